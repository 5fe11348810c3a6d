"""A small agent that tells Opik's SDK what it does. It stands in for the program `openclaw`, which ends with its run's id.

Usage: agent_opik.py objects|decorators RUN [failing]
"""

import json
import sys

style, run, *more = sys.argv[1:]


def objects():
    """Traces and spans as objects."""
    import opik

    client = opik.Opik(project_name="demo")
    trace = client.trace(name="toy · qa", input={"message": "where is order 42?"}, metadata={"runId": run, "agentId": "main"})
    asking = trace.span(name="gpt-4o", type="llm", model="gpt-4o", provider="openai")
    asking.end(usage={"prompt_tokens": 120, "completion_tokens": 20, "total_tokens": 140}, total_cost=0.25)
    looking = asking.span(name="lookup_order", type="tool", input={"order_id": "42"})
    looking.end(error_info={"exception_type": "KeyError", "message": "no order 42", "traceback": "…"} if more else None)
    child = trace.span(name="subagent:writer", type="general", metadata={"agentId": "writer", "status": "ok"})
    answering = child.span(name="gpt-4o", type="llm", model="gpt-4o", provider="openai")
    answering.end(usage={"prompt_tokens": 150, "completion_tokens": 30, "total_tokens": 180}, total_cost=0.5)
    child.end()
    trace.end(output={"text": "Order 42 has shipped."})
    client.end()


def decorators():
    """Traces and spans as functions."""
    import opik
    from opik import opik_context

    @opik.track(name="gpt-4o", type="llm", project_name="demo")
    def ask(sent, received, cost):
        usage = {"prompt_tokens": sent, "completion_tokens": received, "total_tokens": sent + received}
        opik_context.update_current_span(model="gpt-4o", provider="openai", usage=usage, total_cost=cost)
        return "Order 42 has shipped."

    @opik.track(type="tool", project_name="demo")
    def lookup_order(order_id):
        if more:
            raise KeyError(f"no order {order_id}")
        return {"status": "shipped"}

    @opik.track(name="subagent:writer", project_name="demo")
    def write():
        return ask(150, 30, 0.5)

    @opik.track(name="toy · qa", project_name="demo")
    def agent(message):
        opik_context.update_current_trace(metadata={"runId": run, "agentId": "main"})
        ask(120, 20, 0.25)
        try:
            lookup_order("42")
        except KeyError:
            pass
        return write()

    agent("where is order 42?")
    opik.flush_tracker()


{"objects": objects, "decorators": decorators}[style]()
print(json.dumps({"meta": {"agentMeta": {"sessionId": run}}}))
