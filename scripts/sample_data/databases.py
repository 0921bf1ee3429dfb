"""Questions in the style of SPIDER and ACADEMIC: tables with rows and columns, papers and their authors."""

from sample_data.shape import Shape, Source

__all__ = ["ACADEMIC", "SPIDER"]

_LISTS = (
    Shape(
        wordings=(
            "What are the {attributes} of all {things}?",
            "List the {attributes} of the {things}.",
            "Show the {attributes} for all {things}.",
        ),
        steps="""
            select {things}
            project {attributes} of #1
        """,
        cases="""
            attributes     | things
            names          | gardeners
            titles         | podcasts
            addresses      | bakeries
            colors         | kayaks
            opening hours  | lighthouses
            license plates | taxis
        """,
    ),
    Shape(
        wordings=(
            "Show the {first} and {second} of all {things}.",
            "For all {things}, return the {first} and {second}.",
            "What are the {first} and the {second} of the {things}?",
        ),
        steps="""
            select {things}
            project {first} of #1
            project {second} of #1
            union #2 , #3
        """,
        cases="""
            first    | second      | things
            names    | wingspans   | gliders
            titles   | lengths     | audiobooks
            brands   | prices      | tents
            sizes    | locations   | greenhouses
            names    | birthdays   | beekeepers
            codes    | weights     | parcels
        """,
    ),
    Shape(
        wordings=(
            "List the {attribute} of all {things} sorted by {key} in {direction} order.",
            "Show the {attribute} of the {things}, sorted by their {key} in {direction} order.",
        ),
        steps="""
            select {things}
            project {attribute} of #1
            project {key} of #1
            sort #2 sorted by #3 in {direction} order
        """,
        cases="""
            attribute | things      | key
            names     | sculptors   | age
            titles    | board games | price
            addresses | pharmacies  | size
            owners    | sailboats   | length
            names     | orchards    | area
            topics    | lectures    | date
        """,
    ),
    Shape(
        wordings=(
            "What are the average and the maximum {measure} of the {things} {condition}?",
            "Find the average and maximum {measure} of {things} {condition}.",
        ),
        steps="""
            select {things}
            filter #1 {condition}
            project {measures} of #2
            aggregate average of #3
            aggregate maximum of #3
            union #4 , #5
        """,
        cases="""
            measure | measures | things     | condition
            salary  | salaries | nurses     | in the night shift
            price   | prices   | guitars    | made of cedar
            weight  | weights  | pumpkins   | from the north field
            length  | lengths  | documentaries | about glaciers
            height  | heights  | climbers   | in the junior team
            age     | ages     | volunteers | at the animal shelter
        """,
    ),
    Shape(
        wordings=(
            "Which {things} {verb} both {first} and {second}?",
            "Find the {things} that {verb} both {first} and {second}.",
        ),
        steps="""
            select {things}
            filter #1 that {verb} {first}
            filter #1 that {verb} {second}
            intersection #1 in both #2 and #3
        """,
        cases="""
            things     | verb     | first         | second
            hostels    | offer    | breakfast     | parking
            workshops  | teach    | pottery       | weaving
            farms      | grow     | barley        | lentils
            clinics    | treat    | horses        | goats
            shops      | sell     | stamps        | postcards
            campsites  | rent     | canoes        | bicycles
        """,
    ),
)

_GROUPS = (
    Shape(
        wordings=(
            "What is the average {measure} of the {parts} in each {whole}?",
            "For each {whole}, find the average {measure} of its {parts}.",
        ),
        steps="""
            select {wholes}
            project {parts} of #1
            project {measures} of #2
            group average of #3 for each #1
        """,
        cases="""
            measure | measures | parts     | whole    | wholes
            age     | ages     | dancers   | troupe   | troupes
            price   | prices   | bottles   | cellar   | cellars
            height  | heights  | trees     | park     | parks
            salary  | salaries | cooks     | kitchen  | kitchens
            weight  | weights  | goats     | barn     | barns
            length  | lengths  | songs     | playlist | playlists
        """,
    ),
    Shape(
        wordings=(
            "What are the maximum and minimum {measure} of the {parts} in each {whole}?",
            "Show the maximum and the minimum {measure} of the {parts} for each {whole}.",
        ),
        steps="""
            select {wholes}
            project {parts} of #1
            project {measures} of #2
            group maximum of #3 for each #1
            group minimum of #3 for each #1
            union #4 , #5
        """,
        cases="""
            measure  | measures  | parts       | whole     | wholes
            price    | prices    | rooms       | hostel    | hostels
            score    | scores    | gymnasts    | club      | clubs
            depth    | depths    | wells       | village   | villages
            capacity | capacities| ferries     | harbor    | harbors
            age      | ages      | paintings   | gallery   | galleries
            speed    | speeds    | windmills   | province  | provinces
        """,
    ),
    Shape(
        wordings=(
            "Find the total {measure} of the {parts} of each {whole}.",
            "What is the total {measure} of all {parts} for each {whole}?",
        ),
        steps="""
            select {wholes}
            project {parts} of #1
            project {measures} of #2
            group sum of #3 for each #1
        """,
        cases="""
            measure | measures | parts     | whole     | wholes
            cost    | costs    | repairs   | tram      | trams
            weight  | weights  | crates    | warehouse | warehouses
            area    | areas    | meadows   | farm      | farms
            amount  | amounts  | donations | charity   | charities
            length  | lengths  | trails    | reserve   | reserves
            price   | prices   | orders    | florist   | florists
        """,
    ),
)

_COMPARED = (
    Shape(
        wordings=(
            "Show the {attributes} of the {wholes} that have more than one {part}.",
            "What are the {attributes} of {wholes} with more than one {part}?",
        ),
        steps="""
            select {wholes}
            project {parts} of #1
            group number of #2 for each #1
            comparative #1 where #3 is more than one
            project {attributes} of #4
        """,
        cases="""
            attributes | wholes     | part        | parts
            names      | painters   | studio      | studios
            addresses  | theaters   | stage       | stages
            titles     | novels     | sequel      | sequels
            owners     | vineyards  | gate        | gates
            names      | tailors    | apprentice  | apprentices
            locations  | museums    | garden      | gardens
        """,
    ),
    Shape(
        wordings=(
            "How many {wholes} have more than two {parts}?",
            "Count the {wholes} that have more than two {parts}.",
        ),
        steps="""
            select {wholes}
            project {parts} of #1
            group number of #2 for each #1
            comparative #1 where #3 is more than two
            aggregate number of #4
        """,
        cases="""
            wholes      | parts
            cottages    | chimneys
            surgeons    | assistants
            tractors    | trailers
            libraries   | branches
            detectives  | open cases
            ferries     | decks
        """,
    ),
    Shape(
        wordings=("How many {wholes} have no {parts}?", "Count the {wholes} that have no {parts}."),
        steps="""
            select {wholes}
            project {parts} of #1
            group number of #2 for each #1
            comparative #1 where #3 is equal to zero
            aggregate number of #4
        """,
        cases="""
            wholes     | parts
            sailors    | tattoos
            villages   | wells
            plumbers   | invoices
            cottages   | windows
            recipes    | reviews
            trams      | drivers
        """,
    ),
    Shape(
        wordings=("Which {wholes} have fewer than two {parts}?", "List the {wholes} with fewer than two {parts}."),
        steps="""
            select {wholes}
            project {parts} of #1
            group number of #2 for each #1
            comparative #1 where #3 is fewer than two
        """,
        cases="""
            wholes     | parts
            bakeries   | ovens
            pilots     | licenses
            campsites  | showers
            professors | offices
            bridges    | lanes
            choirs     | soloists
        """,
    ),
    Shape(
        wordings=(
            "Which {things} have a {measure} higher than zero?",
            "Find all {things} whose {measure} is higher than zero.",
        ),
        steps="""
            select {things}
            project {measures} of #1
            comparative #1 where #2 is higher than zero
        """,
        cases="""
            things     | measure     | measures
            accounts   | balance     | balances
            ovens      | temperature | temperatures
            invoices   | tax         | taxes
            students   | debt        | debts
            machines   | error rate  | error rates
            villages   | growth rate | growth rates
        """,
    ),
    Shape(
        wordings=(
            "Which {things} have a {measure} of less than 1 {unit}?",
            "List the {things} with a {measure} of less than 1 {unit}.",
        ),
        steps="""
            select {things}
            project {measures} of #1
            comparative #1 where #2 is less than 1 {unit}
        """,
        cases="""
            things    | measure | measures | unit
            parcels   | weight  | weights  | kilogram
            ponds     | depth   | depths   | meter
            candies   | price   | prices   | dollar
            tunnels   | length  | lengths  | mile
            radios    | power   | powers   | watt
            rehearsals| duration| durations| hour
        """,
    ),
)

SPIDER = Source("SPIDER", _LISTS + _GROUPS + _COMPARED, {"direction": ("ascending", "descending")})

_PAPERS = (
    Shape(
        wordings=(
            'return me the papers by " {author} " in {venue} after {year} .',
            'return me all papers in {venue} after {year} by " {author} " .',
        ),
        steps="""
            select papers
            filter #1 by {author}
            filter #2 in {venue}
            filter #3 after {year}
        """,
    ),
    Shape(
        wordings=(
            'return me the number of papers written by " {author} " that contain the keyword " {keyword} " .',
            'return me the number of papers that contain the keyword " {keyword} " and were written by " {author} " .',
        ),
        steps="""
            select papers
            filter #1 written by {author}
            filter #2 that contain the keyword {keyword}
            aggregate number of #3
        """,
    ),
    Shape(
        wordings=(
            "return me the {one} with the most number of papers in {venue} .",
            "return me the {one} that has the most number of papers in {venue} .",
        ),
        steps="""
            select {many}
            project papers of #1
            filter #2 in {venue}
            group number of #3 for each #1
            superlative #1 where #4 is the highest
        """,
        cases="""
            one          | many
            author       | authors
            organization | organizations
            keyword      | keywords
        """,
    ),
    Shape(
        wordings=(
            "return me the papers in {venue} with more than {citations} citations .",
            "return me all the papers in {venue} that have more than {citations} citations .",
        ),
        steps="""
            select papers
            filter #1 in {venue}
            project citations of #2
            group number of #3 for each #2
            comparative #2 where #4 is more than {citations}
        """,
    ),
)

ACADEMIC = Source(
    "ACADEMIC",
    _PAPERS,
    {
        "author": ("Ines Halvorsen", "T. R. Okafor", "Mirela Dunne", "Jun Abe", "P. Castellan", "Wanda Sorley"),
        "venue": ("TIDECOMP", "the Harbor Systems Workshop", "JQLR", "the Lantern Conference", "PNETDB", "Acta Grapha"),
        "keyword": ("Sparse Index", "Soil Sensors", "Query Repair", "Bird Song", "Fair Voting", "Cold Storage"),
        "year": ("1994", "1998", "2003", "2007", "2011", "2016"),
        "citations": ("40", "75", "120", "300", "550", "800"),
    },
)
