"""Questions without decompositions, for prediction: the shapes of the sample set in other words."""

QUESTIONS = (
    "show me the flights from porto to nairobi on friday in the evening",
    "which glacier in iceland is the largest",
    "which countries border exactly two deserts",
    "Show the names of the potters that have more than one kiln.",
    "What is the average price of the lamps in each shop?",
    'return me the papers by " Ines Halvorsen " in JQLR after 2009 .',
    "How many of the velvet cones are not teal?",
    "If the left image shows a copper kettle and the right image shows a tin cup.",
    "Which happened first, the siege of Dunmarrow or the harbor strike?",
    "How many more sailors than carpenters lived in Santa Perla in 1948?",
    "who was the first diver to explore the blue cave?",
    "What is the currency of the country where Greta Holm was born?",
)
