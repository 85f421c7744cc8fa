"""Made-up data to try Samsa with. Pure: dice and times are handed in."""
