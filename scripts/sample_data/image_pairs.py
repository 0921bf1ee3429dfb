"""Questions in the style of NLVR2: statements about a pair of photos that are true or false."""

from sample_data.shape import Shape, Source

__all__ = ["NLVR2"]

_COUNTED = (
    Shape(
        wordings=(
            "If there are exactly two {things} in the {side} image.",
            "If the {side} image contains exactly two {things}.",
        ),
        steps="""
            select {side} image
            project {things} in #1
            aggregate number of #2
            boolean if #3 is equal to two
        """,
    ),
    Shape(
        wordings=("If exactly one {thing} is {state}.", "If only one {thing} is {state}."),
        steps="""
            select {things}
            filter #1 that is {state}
            aggregate number of #2
            boolean if #3 is equal to one
        """,
        cases="""
            thing    | things    | state
            parrot   | parrots   | flying
            teapot   | teapots   | made of copper
            canoe    | canoes    | tied to a dock
            tent     | tents     | open
            harp     | harps     | leaning against a wall
            donkey   | donkeys   | carrying a basket
        """,
    ),
    Shape(
        wordings=("If none of the {things} are {state}.", "If there are no {things} that are {state}."),
        steps="""
            select {things}
            filter #1 that are {state}
            aggregate number of #2
            boolean if #3 is equal to zero
        """,
        cases="""
            things     | state
            otters     | swimming
            violins    | broken
            lanterns   | lit
            sheep      | behind a fence
            mittens    | striped
            tractors   | covered in mud
        """,
    ),
    Shape(
        wordings=(
            "If the number of {things} that are {state} is higher than zero.",
            "If, counting both images, the number of {things} that are {state} is higher than zero.",
        ),
        steps="""
            select {things}
            filter #1 that are {state}
            aggregate number of #2
            boolean if #3 is higher than zero
        """,
        cases="""
            things    | state
            puppies   | asleep
            kettles   | steaming
            windows   | cracked
            penguins  | facing the sea
            balloons  | tied to a chair
            rowers    | wearing helmets
        """,
    ),
    Shape(
        wordings=(
            "If more than one {thing} can be seen in the {side} image.",
            "If the {side} image shows more than one {thing}.",
        ),
        steps="""
            select {side} image
            project {things} in #1
            aggregate number of #2
            boolean if #3 is more than one
        """,
        cases="""
            thing     | things
            cactus    | cactuses
            snail     | snails
            scooter   | scooters
            pelican   | pelicans
            bonfire   | bonfires
            wheelbarrow | wheelbarrows
        """,
    ),
    Shape(
        wordings=("If fewer than two of the {things} are {state}.", "If fewer than two {things} are {state}."),
        steps="""
            select {things}
            filter #1 that are {state}
            aggregate number of #2
            boolean if #3 is fewer than two
        """,
        cases="""
            things     | state
            goats      | on the roof
            trumpets   | polished
            umbrellas  | closed
            foxes      | looking left
            cupcakes   | topped with cherries
            hikers     | crossing the stream
        """,
    ),
    Shape(
        wordings=(
            "If the number of {things} in the {side} image is less than one.",
            "If the {side} image has a number of {things} that is less than one.",
        ),
        steps="""
            select {side} image
            project {things} in #1
            aggregate number of #2
            boolean if #3 is less than one
        """,
    ),
    Shape(
        wordings=("If each image contains exactly one {thing}.", "If each of the images shows exactly one {thing}."),
        steps="""
            select images
            project {things} in #1
            group number of #2 for each #1
            comparative #1 where #3 is equal to one
            aggregate number of #4
            aggregate number of #1
            boolean if #5 is equal to #6
        """,
        cases="""
            thing      | things
            sailboat   | sailboats
            heron      | herons
            accordion  | accordions
            snowman    | snowmen
            waterwheel | waterwheels
            llama      | llamas
        """,
    ),
)

_JOINED = (
    Shape(
        wordings=(
            "If the left image shows {first} and the right image shows {second}.",
            "If there is {first} in the left image and {second} in the right image.",
        ),
        steps="""
            select {first}
            boolean if #1 is in the left image
            select {second}
            boolean if #3 is in the right image
            boolean if both #2 and #4 are true
        """,
        cases="""
            first             | second
            a red kite        | a stone bridge
            a wooden rake     | an empty hammock
            a spotted horse   | a muddy path
            an old typewriter | a tin can
            a bearded man     | a frozen pond
            a loaf of bread   | a jar of honey
        """,
    ),
    Shape(
        wordings=(
            "If either the left image shows {first} or the right image shows {second}.",
            "If there is either {first} in the left image or {second} in the right image.",
        ),
        steps="""
            select {first}
            boolean if #1 is in the left image
            select {second}
            boolean if #3 is in the right image
            boolean if either #2 or #4 is true
        """,
        cases="""
            first            | second
            a yellow bus     | a brick tower
            a knitted hat    | a pair of gloves
            a sleeping cat   | a barking dog
            a paper lantern  | a candle
            an open umbrella | a puddle
            a plate of figs  | a bowl of soup
        """,
    ),
    Shape(
        wordings=(
            "If neither the left image nor the right image shows {thing}.",
            "If {thing} is in neither the left image nor the right image.",
        ),
        steps="""
            select {thing}
            boolean if #1 is in the left image
            boolean if #1 is in the right image
            boolean if both #2 and #3 are false
        """,
        cases="""
            thing
            a spinning wheel
            a green parasol
            a bowl of lemons
            a snow shovel
            a pigeon
            a marble statue
        """,
    ),
    Shape(
        wordings=(
            "If it is false that the {first} is {state} or false that the {second} is {condition}.",
            "If it is either false that the {first} is {state} or false that the {second} is {condition}.",
        ),
        steps="""
            select the {first}
            boolean if #1 is {state}
            select the {second}
            boolean if #3 is {condition}
            boolean if either #2 or #4 is false
        """,
        cases="""
            first   | state         | second  | condition
            gate    | open          | lamp    | lit
            drawer  | empty         | carpet  | rolled up
            ladder  | made of metal | bucket  | full
            curtain | drawn         | stove   | hot
            boat    | painted blue  | sail    | raised
            goose   | in the pond   | duck    | on the grass
        """,
    ),
    Shape(
        wordings=(
            "If one image shows exactly one {thing} and the other image shows at least two {others}.",
            "If there is exactly one {thing} in one image and there are at least two {others} in the other image.",
        ),
        steps="""
            select one image
            project {thing} in #1
            aggregate number of #2
            boolean if #3 is equal to one
            select the other image
            project {others} in #5
            aggregate number of #6
            boolean if #7 is at least two
            boolean if both #4 and #8 are true
        """,
        cases="""
            thing     | others
            moose     | rabbits
            windmill  | barns
            cello     | flutes
            lobster   | clams
            snowplow  | sleds
            pineapple | melons
        """,
    ),
    Shape(
        wordings=(
            "If the left image shows exactly two {state} {things} and the right image shows at least three {others}.",
            "If exactly two {state} {things} are in the left image and at least three {others} are in the right image.",
        ),
        steps="""
            select left image
            project {things} in #1
            filter #2 that are {state}
            aggregate number of #3
            boolean if #4 is equal to two
            select right image
            project {others} in #6
            aggregate number of #7
            boolean if #8 is at least three
            boolean if both #5 and #9 are true
        """,
        cases="""
            state   | things  | others
            folded  | towels  | bars of soap
            sleepy  | kittens | balls of yarn
            rusty   | anchors | ropes
            ripe    | pears   | walnuts
            barefoot| dancers | drummers
            unlit   | torches | helmets
        """,
    ),
)

NLVR2 = Source(
    "NLVR2",
    _COUNTED + _JOINED,
    {
        "side": ("left", "right"),
        "things": ("lanterns", "teapots", "canoes", "parrots", "umbrellas", "harps", "otters", "kettles", "scarecrows"),
    },
)
