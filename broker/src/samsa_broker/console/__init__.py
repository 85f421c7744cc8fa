"""The console: a page that shows a cluster, and the routes that the page asks.

The page's files are in `page/`. Its routes are under `/console/api`; each asks a `KafkaClient`
with the rights of the sender, so they are the same for the broker in this process (`samsa up`) and
for a cluster behind TCP (`samsa console`). What only a broker itself knows comes from `Inside`, and
is null without one. Nothing here is imported before the first HTTP request.
"""
