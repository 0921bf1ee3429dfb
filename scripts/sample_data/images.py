"""Questions in the style of CLEVR: solids of different color, size and material on a table."""

from sample_data.shape import Shape, Source

__all__ = ["CLEVR"]

_WORDS = {
    "color": ("orange", "pink", "teal", "white", "maroon", "silver", "turquoise", "black"),
    "material": ("wooden", "glass", "plastic", "velvet", "marble", "clay"),
    "size": ("tiny", "large", "small", "big"),
    "side": ("to the left of", "to the right of", "behind", "in front of"),
    "solid": ("pyramid", "cone", "disc", "prism", "ring", "egg"),
    "solids": ("pyramids", "cones", "discs", "prisms", "rings", "eggs"),
}

_SHAPES = (
    Shape(
        wordings=(
            "What color is the {size} {material} {solid}?",
            "The {size} {material} {solid} is what color?",
            "What is the color of the {size} {material} {solid}?",
        ),
        steps="""
            select {solid}
            filter #1 that is {size}
            filter #2 that is {material}
            project color of #3
        """,
    ),
    Shape(
        wordings=(
            "How many {solids} {side} the {color} {solid} are {material}?",
            "What is the number of {material} {solids} {side} the {color} {solid}?",
        ),
        steps="""
            select {solids}
            select {color} {solid}
            filter #1 that are {material}
            filter #3 {side} #2
            aggregate number of #4
        """,
        cases="""
            solids   | solid
            pyramids | cone
            cones    | egg
            discs    | prism
            prisms   | ring
            rings    | pyramid
            eggs     | disc
        """,
    ),
    Shape(
        wordings=(
            "Are there any {color} {solids} {side} the {material} {solid}?",
            "Are any {color} {solids} {side} the {material} {solid}?",
        ),
        steps="""
            select {solids}
            filter #1 that are {color}
            select {material} {solid}
            boolean if any #2 are {side} #3
        """,
        cases="""
            solids   | solid
            pyramids | ring
            cones    | disc
            discs    | egg
            prisms   | cone
            rings    | prism
            eggs     | pyramid
        """,
    ),
    Shape(
        wordings=(
            "Is the {color} {first} the same {attribute} as the {material} {second}?",
            "Does the {color} {first} have the same {attribute} as the {material} {second}?",
        ),
        steps="""
            select {color} {first}
            select {material} {second}
            project {attribute} of #1
            project {attribute} of #2
            boolean if #3 is the same as #4
        """,
        cases="""
            first   | second  | attribute
            pyramid | cone    | size
            disc    | ring    | color
            egg     | prism   | height
            ring    | pyramid | size
            cone    | disc    | color
            prism   | egg     | size
        """,
    ),
    Shape(
        wordings=(
            "What is the {wanted} of the other {thing} that has the same {shared} as the {color} {solid}?",
            "There is another {thing} with the same {shared} as the {color} {solid}; what is its {wanted}?",
        ),
        steps="""
            select {things}
            select {color} {solid}
            discard #1 besides #2
            project {shared} of #3
            project {shared} of #2
            comparative #3 where #4 is the same as #5
            project {wanted} of #6
        """,
        cases="""
            wanted   | shared   | thing  | things
            color    | size     | object | objects
            material | color    | thing  | things
            size     | material | item   | items
            shape    | color    | object | objects
            color    | shape    | thing  | things
            height   | material | item   | items
        """,
    ),
    Shape(
        wordings=(
            "Are there more {color} {first} or {material} {second}?",
            "Which are there more of, {color} {first} or {material} {second}?",
        ),
        steps="""
            select {color} {first}
            select {material} {second}
            aggregate number of #1
            aggregate number of #2
            comparison which is more of #3 , #4
        """,
        cases="""
            first    | second
            pyramids | cones
            discs    | rings
            eggs     | prisms
            rings    | pyramids
            cones    | discs
            prisms   | eggs
        """,
    ),
    Shape(
        wordings=(
            "How many {things} are {color} {first} or {material} {second}?",
            "What is the number of {things} that are either {color} {first} or {material} {second}?",
        ),
        steps="""
            select {things}
            filter #1 that are {color} {first}
            filter #1 that are {material} {second}
            union #2 , #3
            aggregate number of #4
        """,
        cases="""
            things  | first    | second
            objects | pyramids | rings
            items   | discs    | cones
            shapes  | eggs     | pyramids
            things  | rings    | discs
            objects | cones    | prisms
            items   | prisms   | eggs
        """,
    ),
    Shape(
        wordings=(
            "What {attribute} is the {extreme} {material} {solid}?",
            "What is the {attribute} of the {extreme} {material} {solid}?",
        ),
        steps="""
            select {solid}
            filter #1 that is {material}
            project size of #2
            superlative #2 where #3 is the {extreme}
            project {attribute} of #4
        """,
        cases="""
            attribute | extreme
            color     | largest
            color     | smallest
            shade     | biggest
            pattern   | smallest
            texture   | largest
            pattern   | biggest
        """,
    ),
    Shape(
        wordings=(
            "What is the number of {color} {first} multiplied by the number of {material} {second}?",
            "Multiply the number of {color} {first} by the number of {material} {second}.",
            "What do you get if you multiply the number of {color} {first} by the number of {material} {second}?",
        ),
        steps="""
            select {color} {first}
            select {material} {second}
            aggregate number of #1
            aggregate number of #2
            arithmetic multiplication of #3 and #4
        """,
        cases="""
            first    | second
            pyramids | eggs
            discs    | pyramids
            eggs     | rings
            rings    | cones
            cones    | prisms
            prisms   | discs
        """,
    ),
    Shape(
        wordings=(
            "How many of the {material} {solids} are not {color}?",
            "How many {material} {solids} are not {color}?",
        ),
        steps="""
            select {solids}
            filter #1 that are {material}
            filter #2 that are {color}
            discard #2 besides #3
            aggregate number of #4
        """,
    ),
    Shape(
        wordings=("Are there more than two {color} {solids}?", "Are more than two of the {solids} {color}?"),
        steps="""
            select {solids}
            filter #1 that are {color}
            aggregate number of #2
            boolean if #3 is more than two
        """,
    ),
)

CLEVR = Source("CLEVR", _SHAPES, _WORDS)
