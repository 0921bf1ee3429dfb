"""Answer a multi-hop question with LangChain and a toy retriever.

pip install '.[parser,langchain]'
python examples/langchain_multi_hop.py
"""

from __future__ import annotations

from langchain_core.callbacks import CallbackManagerForRetrieverRun
from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever
from toy_facts import rank

from qdecomp.integrations.langchain import AnswerPlan, Decompose

QUESTION = "Which river flows through the capital of the country where Mira Tovan was born?"


class FactRetriever(BaseRetriever):
    """Finds facts by the words that they share with a question."""

    def _get_relevant_documents(self, query: str, *, run_manager: CallbackManagerForRetrieverRun) -> list[Document]:
        return [Document(fact.text, metadata={"answer": fact.answer}) for _, fact in rank(query)[:3]]


def read(documents: list[Document]) -> str:
    """The answer in the best document; a real pipeline would use a language model here."""
    return str(documents[0].metadata["answer"])


def main() -> None:
    """Retrieve once with the whole question, then hop by hop."""
    retriever = FactRetriever()
    print(f"{QUESTION}\n\nRetrieved at once: {read(retriever.invoke(QUESTION))}")
    chain = Decompose() | AnswerPlan(retriever | read)
    run = chain.invoke(QUESTION)
    print("\nHop by hop:")
    for step in run.steps:
        print(f"  {step.number}. {step.question} {step.answer}")
    print(f"Answer: {run.answer}")


if __name__ == "__main__":
    main()
