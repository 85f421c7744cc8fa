"""An API Gateway for one machine: WebSocket connections in front, functions behind.

It refuses what the real one refuses, at the same sizes and times, so that what works here works
there. Functions run as in Lambda: in processes of their own, one invocation at a time, frozen
between two.
"""
