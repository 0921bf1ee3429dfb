"""Questions in the style of GEO: rivers, borders and populations, lower case, no punctuation."""

from sample_data.shape import Shape, Source

__all__ = ["GEO"]

_WORDS = {
    "country": (
        "norway", "peru", "kenya", "portugal", "vietnam", "chile", "morocco", "finland", "nepal", "ghana", "iceland",
        "bolivia",
    ),
    "people": ("5000", "48000", "75000", "120000", "360000", "900000"),
}  # fmt: skip

_SHAPES = (
    Shape(
        wordings=("what {features} {verb} {country}", "name the {features} that {verb} {country}"),
        steps="""
            select {country}
            project {features} that {verb} #1
        """,
        cases="""
            features        | verb
            rivers          | flow through
            highways        | run through
            mountain ranges | cross
            canals          | pass through
            roads           | lead into
            railways        | go through
        """,
    ),
    Shape(
        wordings=("what is the {extreme} {feature} in {country}", "which {feature} in {country} is the {extreme}"),
        steps="""
            select {features}
            filter #1 in {country}
            project {measure} of #2
            superlative #2 where #3 is the {extreme}
        """,
        cases="""
            extreme | feature | features | measure
            longest | fjord   | fjords   | size
            largest | lake    | lakes    | size
            highest | volcano | volcanoes| height
            biggest | island  | islands  | size
            highest | hill    | hills    | elevation
            longest | canal   | canals   | size
        """,
    ),
    Shape(
        wordings=(
            "what is the total population of the {areas} that border {place}",
            "give me the total population of all {areas} that border {place}",
        ),
        steps="""
            select {place}
            project {areas} that border #1
            project populations of #2
            aggregate sum of #3
        """,
        cases="""
            areas     | place
            provinces | lima
            districts | lake victoria
            regions   | the sahara
            cantons   | geneva
            counties  | tampere
            villages  | mount kenya
        """,
    ),
    Shape(
        wordings=(
            "which {places} in {country} have a population of more than {people}",
            "name {places} in {country} with a population of more than {people}",
            "what {places} in {country} have more than {people} as their population",
        ),
        steps="""
            select {places}
            filter #1 in {country}
            project populations of #2
            comparative #2 where #3 is more than {people}
        """,
        cases="""
            places
            towns
            cities
            islands
            harbor towns
            districts
        """,
    ),
    Shape(
        wordings=(
            "which {places} in {country} have an elevation lower than zero",
            "what are the {places} of {country} whose elevation is lower than zero",
        ),
        steps="""
            select {places}
            filter #1 in {country}
            project elevations of #2
            comparative #2 where #3 is lower than zero
        """,
        cases="""
            places
            valleys
            craters
            towns
            lakes
            basins
            mines
        """,
    ),
    Shape(
        wordings=(
            "what is the {whole} of {country} divided by its {part}",
            "divide the {whole} of {country} by its {part}",
            "how much is the {whole} of {country} divided by its {part}",
        ),
        steps="""
            select {country}
            project {whole} of #1
            project {part} of #1
            arithmetic division of #2 and #3
        """,
        cases="""
            whole        | part
            population   | area
            forest area  | land area
            rice harvest | farmland
            budget       | population
            coastline    | size
            population   | farmland
        """,
    ),
    Shape(
        wordings=(
            "what is the {feature} of the {area} with the smallest {measure}",
            "name the {feature} of the {area} that has the smallest {measure}",
        ),
        steps="""
            select {areas}
            project {measures} of #1
            superlative #1 where #2 is the smallest
            project {feature} of #3
        """,
        cases="""
            feature   | area     | areas     | measure    | measures
            capital   | country  | countries | population | populations
            main port | province | provinces | coastline  | coastlines
            flag      | island   | islands   | area       | areas
            dialect   | canton   | cantons   | population | populations
            climate   | desert   | deserts   | rainfall   | rainfalls
            oldest town | district | districts | budget   | budgets
        """,
    ),
    Shape(
        wordings=("which {wholes} {verb} exactly two {parts}", "name all {wholes} that {verb} exactly two {parts}"),
        steps="""
            select {wholes}
            project {parts} that #1 {verb}
            group number of #2 for each #1
            comparative #1 where #3 is equal to two
        """,
        cases="""
            wholes    | verb    | parts
            countries | border  | seas
            rivers    | cross   | deserts
            islands   | have    | volcanoes
            provinces | touch   | lakes
            valleys   | contain | glaciers
            railways  | link    | capitals
        """,
    ),
)

GEO = Source("GEO", _SHAPES, _WORDS)
