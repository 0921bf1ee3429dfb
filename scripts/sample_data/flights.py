"""Questions in the style of ATIS: flights, lower case, no punctuation."""

from sample_data.shape import Shape, Source

__all__ = ["ATIS"]

_WORDS = {
    "city": (
        "lisbon", "oslo", "nairobi", "quito", "osaka", "dublin", "tampere", "marseille", "jaipur", "auckland",
        "halifax", "porto", "windhoek", "la paz",
    ),
    "airline": ("blue heron", "northwind", "cedar airways", "red kite air", "polar wings", "sunline"),
    "day": ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"),
    "time": (
        "in the morning", "in the evening", "in the afternoon", "before noon", "after midnight", "before 7 am",
        "after 9 pm",
    ),
    "amount": ("90", "150", "240", "310", "475", "620"),
}  # fmt: skip

_SHAPES = (
    Shape(
        wordings=("list the {thing}", "what are all the {thing}", "show me {thing} please"),
        steps="select {thing}",
        cases="""
            thing
            airport shuttles
            meal codes
            fare classes
            aircraft types
            baggage rules
            ferry connections
            seat maps
        """,
    ),
    Shape(
        wordings=(
            "i would like a flight from {city} to {city_2} on {day} {time}",
            "show me the flights from {city} to {city_2} on {day} {time}",
            "on {day} {time} what flights go from {city} to {city_2}",
        ),
        steps="""
            select flights
            filter #1 from {city}
            filter #2 to {city_2}
            filter #3 on {day}
            filter #4 {time}
        """,
    ),
    Shape(
        wordings=(
            "what are the {attribute} of the {airline} flights from {city} to {city_2}",
            "give me the {attribute} for {airline} flights from {city} to {city_2}",
        ),
        steps="""
            select flights
            filter #1 on {airline}
            filter #2 from {city}
            filter #3 to {city_2}
            project {attribute} of #4
        """,
        cases="""
            attribute
            departure times
            gates
            aircraft
            arrival times
            meals
            stopovers
        """,
    ),
    Shape(
        wordings=(
            "what is the lowest {price} on flights from {city} to {city_2}",
            "show me the lowest {price} for a flight from {city} to {city_2}",
            "how much is the lowest {price} of the flights to {city_2} from {city}",
        ),
        steps="""
            select flights
            filter #1 from {city}
            filter #2 to {city_2}
            project {prices} of #3
            aggregate the lowest of #4
        """,
        cases="""
            price          | prices
            fare           | fares
            price          | prices
            economy fare   | economy fares
            one way fare   | one way fares
            business fare  | business fares
            round trip fare| round trip fares
        """,
    ),
    Shape(
        wordings=(
            "list the flights from {city} to {city_2} and from {city} to {city_3}",
            "i need flights from {city} to {city_2} or {city_3}",
            "which flights go from {city} to either {city_2} or {city_3}",
        ),
        steps="""
            select flights
            filter #1 from {city}
            filter #2 to {city_2}
            filter #2 to {city_3}
            union #3 , #4
        """,
    ),
    Shape(
        wordings=(
            "how many flights leave {city} {time}",
            "what is the number of flights that leave {city} {time}",
            "how many flights that leave {city} {time} do you have",
        ),
        steps="""
            select flights
            filter #1 that leave {city}
            filter #2 {time}
            aggregate the number of #3
        """,
    ),
    Shape(
        wordings=(
            "which flight from {city} to {city_2} has the shortest {measure}",
            "find the flight with the shortest {measure} from {city} to {city_2}",
        ),
        steps="""
            select flights
            filter #1 from {city}
            filter #2 to {city_2}
            project {measure} of #3
            superlative #3 where #4 is the shortest
        """,
        cases="""
            measure
            flying time
            layover
            boarding time
            stopover
            delay
            waiting time
        """,
    ),
    Shape(
        wordings=(
            "find flights from {city} to {city_2} with a {price} lower than {amount} dollars",
            "are there flights from {city} to {city_2} whose {price} is lower than {amount} dollars",
        ),
        steps="""
            select flights
            filter #1 from {city}
            filter #2 to {city_2}
            project {prices} of #3
            comparative #3 where #4 is lower than {amount} dollars
        """,
        cases="""
            price       | prices
            fare        | fares
            price       | prices
            ticket price| ticket prices
        """,
    ),
    Shape(
        wordings=(
            "show flights from {city} to {city_2} besides those on {airline}",
            "besides the ones on {airline} what flights are there from {city} to {city_2}",
            "i want any flight from {city} to {city_2} besides the {airline} flights",
        ),
        steps="""
            select flights
            filter #1 from {city}
            filter #2 to {city_2}
            filter #3 on {airline}
            discard #3 besides #4
        """,
    ),
)

ATIS = Source("ATIS", _SHAPES, _WORDS)
