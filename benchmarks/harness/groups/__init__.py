"""Members of groups that cost little beside the broker: no threads, no polling, no fetches.

They say what a Java or librdkafka consumer says to its coordinator, in Samsa's own codecs, and the
same to both brokers.
"""
