"""Questions in the style of COMQA and CWQ: what people ask a search engine, plain or nested."""

from sample_data.shape import Shape, Source

__all__ = ["COMQA", "CWQ"]

_PLAIN = (
    Shape(
        wordings=("who is the {role} of {place}?", "name of the {role} of {place}?", "the {role} of {place} is who?"),
        steps="""
            select {place}
            project {role} of #1
        """,
        cases="""
            role             | place
            mayor            | valparaiso
            head librarian   | the bodleian library
            harbor master    | rotterdam
            patron saint     | malta
            finance minister | estonia
            chief engineer   | the kaprun dam
        """,
    ),
    Shape(
        wordings=("when did {thing} {verb}?", "when exactly did {thing} {verb}?"),
        steps="""
            select {thing}
            project when did #1 {verb}
        """,
        cases="""
            thing                     | verb
            the krakow tram           | start
            mount tarawera            | erupt
            the crystal palace        | burn down
            the last woolly mammoth   | die
            the port of lagos         | open
            the corinth canal         | close
        """,
    ),
    Shape(
        wordings=("who was the first {person} to {deed}?", "name the first {person} to {deed}?"),
        steps="""
            select {person} to {deed}
            aggregate the first of #1
        """,
        cases="""
            person     | deed
            woman      | sail around the globe alone
            botanist   | describe the orchid
            pilot      | cross the andes
            composer   | write for the theremin
            swimmer    | cross lake malawi
            chemist    | make purple dye
        """,
    ),
    Shape(
        wordings=("which {people} {verb} {first} and {second}?", "what {people} {verb} both {first} and {second}?"),
        steps="""
            select {people}
            filter #1 that {verb} {first}
            filter #1 that {verb} {second}
            intersection #1 in both #2 and #3
        """,
        cases="""
            people     | verb           | first              | second
            poets      | have lived in  | trieste            | zurich
            architects | have worked in | brasilia           | chandigarh
            painters   | studied in     | antwerp            | kyoto
            violinists | have played in | the vienna opera   | the sydney opera house
            inventors  | taught at      | uppsala            | bologna
            goalies    | have played for| benfica            | ajax
        """,
    ),
    Shape(
        wordings=("what {things} besides {known} {verb} {place}?", "besides {known}, what {things} {verb} {place}?"),
        steps="""
            select {things}
            filter #1 that {verb} {place}
            discard #2 besides {known}
        """,
        cases="""
            things    | known     | verb            | place
            countries | uganda    | border          | lake victoria
            rivers    | the inn   | flow into       | the danube
            spices    | saffron   | are grown in    | iran
            planets   | saturn    | have            | rings
            birds     | the kiwi  | are found in    | new zealand
            languages | romansh   | are spoken in   | switzerland
        """,
    ),
)

_NESTED = (
    Shape(
        wordings=(
            "What is the {attribute} of the {place} where {person} {deed}?",
            "What {attribute} does the {place} where {person} {deed} have?",
        ),
        steps="""
            select {person}
            project {place} where #1 {deed}
            project {attribute} of #2
        """,
        cases="""
            attribute     | place      | person             | deed
            currency      | country    | Clara Haskil       | was born
            time zone     | city       | Tove Jansson       | died
            main export   | country    | Wangari Maathai    | grew up
            founding year | university | Emmy Noether       | taught
            area code     | town       | Astrid Lindgren    | went to school
            religion      | region     | Ibn Battuta        | was buried
        """,
    ),
    Shape(
        wordings=(
            "Which of the {things} that {relation} {place} has {value} as its {attribute}?",
            "Of the {things} that {relation} {place}, which one has {value} as its {attribute}?",
        ),
        steps="""
            select {place}
            project {things} that {relation} #1
            project {attribute} of #2
            comparative #2 where #3 is {value}
        """,
        cases="""
            things    | relation     | place           | value         | attribute
            countries | border       | Tanzania        | Lilongwe      | capital
            islands   | belong to    | Cape Verde      | Pico do Fogo  | peak
            rivers    | flow through | Bavaria         | Passau        | mouth
            clubs     | play in      | Porto           | the dragon    | mascot
            states    | border       | the Baltic Sea  | Gdynia        | main port
            schools   | compete in   | the Boat League | dark green    | color
        """,
    ),
    Shape(
        wordings=(
            'Which {people} {verb} both "{first}" and "{second}"?',
            'Who are the {people} that {verb} both "{first}" and "{second}"?',
        ),
        steps="""
            select {first}
            select {second}
            intersection {people} that {verb} both #1 and #2
        """,
        cases="""
            people     | verb          | first            | second
            actors     | appeared in   | The Salt Road    | Winter Harbor
            composers  | are credited in | Glass Orchard  | The Ninth Tide
            editors    | worked for    | Meridian Weekly  | The Coast Herald
            singers    | performed at  | Lantern Nights   | Dune Festival
            dancers    | trained at    | Studio Alba      | The Loft
            characters | are killed in | Iron Meadow      | A House of Wolves
        """,
    ),
    Shape(
        wordings=(
            "List the {works} {made} by {person} sorted by {key}.",
            "Which {works} were {made} by {person}, sorted by {key}?",
        ),
        steps="""
            select {person}
            project {works} {made} by #1
            project {key} of #2
            sort #2 sorted by #3
        """,
        cases="""
            works     | made      | person            | key
            novels    | written   | Orla Fenwick      | date
            bridges   | designed  | Matteo Rinaldi    | length
            films     | directed  | Sana Idrissi      | budget
            operas    | composed  | Viktor Halasz     | title
            portraits | painted   | Greta Holm        | price
            lakes     | explored  | Anselm Brodie     | elevation
        """,
    ),
    Shape(
        wordings=(
            "Which of the {works} {made} by {person} has the earliest {key}?",
            "Of the {works} {made} by {person}, which one has the earliest {key}?",
        ),
        steps="""
            select {person}
            project {works} {made} by #1
            project {key} of #2
            superlative #2 where #3 is the earliest
        """,
        cases="""
            works     | made      | person            | key
            albums    | recorded  | Bea Lorenzen      | release date
            churches  | built     | Hugo Castellane   | building year
            patents   | filed     | Amina Farouk      | filing date
            comets    | found     | Piet Van Loon     | discovery date
            magazines | edited    | Lidia Koval       | start date
            schools   | founded   | Samuel Achterberg | founding year
        """,
    ),
)

COMQA = Source("COMQA", _PLAIN, {})
CWQ = Source("CWQ", _NESTED, {})
