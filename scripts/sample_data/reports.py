"""Questions in the style of DROP: reports of matches, events of history, census texts."""

from sample_data.shape import Shape, Source

__all__ = ["DROP"]

_WORDS = {
    "player": (
        "Tomas Verhal", "Dario Quint", "Lucas Amdahl", "Pete Sorrow", "Ivo Brandt", "Nils Okoro", "Rafe Tully",
        "Omar Lindqvist",
    ),
    "team": ("Otters", "Foxes", "Herons", "Badgers", "Comets", "Millers", "Ravens", "Harbor Kings"),
    "town": ("Brenholm", "Castel Arda", "Port Wessel", "Tarn Valley", "Lower Quay", "Santa Perla", "Dunmarrow"),
    "year": ("1911", "1948", "1976", "1990", "2001", "2013"),
    "census": ("1880 census", "1926 census", "1970 census", "2000 census", "2006 census", "2016 census"),
    "number": ("4", "7", "12", "18", "25", "60"),
}  # fmt: skip

_COUNTED = (
    Shape(
        wordings=(
            "How many yards was the longest {play} of {player}?",
            "How many yards was the longest {play} that {player} had?",
        ),
        steps="""
            select {player}
            project {plays} of #1
            project yards of #2
            aggregate longest of #3
        """,
        cases="""
            play           | plays
            touchdown pass | touchdown passes
            field goal     | field goals
            interception   | interceptions
            touchdown run  | touchdown runs
            reception      | receptions
            kickoff        | kickoffs
        """,
    ),
    Shape(
        wordings=(
            "How many {plays} of the {team} were shorter than {yards} yards?",
            "How many {plays} by the {team} were shorter than {yards} yards?",
        ),
        steps="""
            select the {team}
            project {plays} of #1
            project yards of #2
            comparative #2 where #3 is shorter than {yards}
            aggregate number of #4
        """,
        cases="""
            plays              | yards
            field goals        | 30
            passes             | 12
            touchdown runs     | 20
            punts              | 45
            receptions         | 15
            screen passes      | 25
        """,
    ),
    Shape(
        wordings=(
            "How many more {first} than {second} lived in {town} in {year}?",
            "In {year}, how many more {first} than {second} lived in {town}?",
        ),
        steps="""
            select {town}
            project {first} who lived in #1
            project {second} who lived in #1
            filter #2 in {year}
            filter #3 in {year}
            aggregate number of #4
            aggregate number of #5
            arithmetic difference of #6 and #7
        """,
        cases="""
            first     | second
            weavers   | fishermen
            children  | pensioners
            farmers   | miners
            Danes     | Frisians
            widows    | widowers
            tenants   | landlords
        """,
    ),
    Shape(
        wordings=(
            "How many {things} did {player} and {player_2} {verb} in total?",
            "What is the total of the {things} that {player} and {player_2} {past}?",
        ),
        steps="""
            select {player}
            select {player_2}
            project {things} that #1 {past}
            project {things} that #2 {past}
            arithmetic sum of #3 and #4
        """,
        cases="""
            things    | verb  | past
            points    | score | scored
            yards     | gain  | gained
            medals    | win   | won
            penalties | draw  | drew
            passes    | catch | caught
        """,
    ),
    Shape(
        wordings=(
            "How many percent of the {people} were not {state}?",
            "What percent of the {people} were not {state}?",
        ),
        steps="""
            select the {people}
            filter #1 that were {state}
            project percent of #2
            arithmetic difference of 100 and #3
        """,
        cases="""
            people      | state
            households  | headed by a woman
            residents   | born abroad
            soldiers    | wounded at the ford
            voters      | under the age of 30
            families    | living in the old quarter
            harvests    | lost to the flood
        """,
    ),
    Shape(
        wordings=(
            "Was the {measure} of {town} in {year} less than zero?",
            "In {year}, was the {measure} of {town} less than zero?",
        ),
        steps="""
            select {town}
            project {measure} of #1
            filter #2 in {year}
            boolean if #3 is less than zero
        """,
        cases="""
            measure
            growth rate
            trade balance
            winter temperature
            budget surplus
            net migration
        """,
    ),
)

_COMPARED = (
    Shape(
        wordings=(
            "Which group from the {census} is larger: {first} or {second}?",
            "Which group is larger in the {census}: {first} or {second}?",
        ),
        steps="""
            select the {census}
            project {first} of #1
            project {second} of #1
            aggregate number of #2
            aggregate number of #3
            comparison which is the highest of #4 , #5
        """,
        cases="""
            first              | second
            potters            | glass workers
            married couples    | single parents
            Sorbs              | Walloons
            bakers             | tanners
            renters            | home owners
            children under 5   | adults over 70
        """,
    ),
    Shape(
        wordings=(
            "Which happened first, {first} or {second}?",
            "What happened first: {first} or {second}?",
        ),
        steps="""
            select {first}
            select {second}
            project date of #1
            project date of #2
            comparison which is the lowest of #3 , #4
        """,
        cases="""
            first                      | second
            the siege of Brenholm      | the treaty of Tarn
            the fire at the mill       | the opening of the canal
            the revolt of the weavers  | the death of King Aldric
            the founding of Port Wessel| the great flood
            the sale of the island     | the bread riots
            the crossing of the Morra  | the battle at Grey Hill
        """,
    ),
    Shape(
        wordings=(
            "Which team {did}, the {team} or the {team_2}?",
            "Who {did}: the {team} or the {team_2}?",
        ),
        steps="""
            select the {team}
            select the {team_2}
            boolean if #1 {did}
            boolean if #2 {did}
            comparison which is true of #3 , #4
        """,
        cases="""
            did
            won the opening game
            missed an extra point
            scored before halftime
            fumbled the kickoff
            led after three quarters
        """,
    ),
    Shape(
        wordings=(
            "Which is false: that the {team} {first} or that the {team_2} {second}?",
            "Which of these is false, that the {team} {first} or that the {team_2} {second}?",
        ),
        steps="""
            select the {team}
            boolean if #1 {first}
            select the {team_2}
            boolean if #3 {second}
            comparison which is false of #2 , #4
        """,
        cases="""
            first                  | second
            won at home            | lost on the road
            kicked a field goal    | blocked a punt
            played in the rain     | rested their goalkeeper
            traded their captain   | signed a new coach
            scored in overtime     | called a timeout
            tied the series        | withdrew from the cup
        """,
    ),
    Shape(
        wordings=(
            "Which has a count of {number} {things}, {first} or {second}?",
            "Which one has a count of {number} {things}: {first} or {second}?",
        ),
        steps="""
            select {first}
            select {second}
            project {things} of #1
            project {things} of #2
            comparison which has a count of {number} of #3 , #4
        """,
        cases="""
            things      | first            | second
            arches      | the Stone Bridge | the Mill Bridge
            chapels     | Castel Arda      | Dunmarrow
            cannons     | Fort Ellery      | Fort Strand
            delegates   | the north party  | the coast party
            islands     | the Lund county  | the Sarre county
            platforms   | East Station     | Quay Station
        """,
    ),
    Shape(
        wordings=(
            "Which team has a total of {number} {things}, the {team} or the {team_2}?",
            "Which of the two has a total of {number} {things}: the {team} or the {team_2}?",
        ),
        steps="""
            select the {team}
            select the {team_2}
            project {things} of #1
            project {things} of #2
            comparison which has a total of {number} of #3 , #4
        """,
        cases="""
            things
            points
            saves
            first downs
            penalty minutes
            rebounds
        """,
    ),
    Shape(
        wordings=(
            "Which player has an average of {number} {things}, {player} or {player_2}?",
            "Who has an average of {number} {things}: {player} or {player_2}?",
        ),
        steps="""
            select {player}
            select {player_2}
            project {things} of #1
            project {things} of #2
            comparison which has an average of {number} of #3 , #4
        """,
        cases="""
            things
            assists
            tackles
            strikeouts
            steals
            blocks
        """,
    ),
)

DROP = Source("DROP", _COUNTED + _COMPARED, _WORDS)
