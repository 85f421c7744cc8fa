"""What micro.py times: cases from each room of the library."""
