"""A small agent, instrumented with OpenTelemetry's SDK for Python: it asks a model, calls a tool, and asks again.

What the model said goes into a record of the log, as the newer conventions have it.
Usage: agent.py none|gzip
"""

import json
import sys

from opentelemetry._logs import LogRecord
from opentelemetry.exporter.otlp.proto.http import Compression
from opentelemetry.exporter.otlp.proto.http._log_exporter import OTLPLogExporter
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk._logs import LoggerProvider
from opentelemetry.sdk._logs.export import BatchLogRecordProcessor
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor

compression = Compression.Gzip if sys.argv[1:] == ["gzip"] else Compression.NoCompression
traces = TracerProvider()
traces.add_span_processor(BatchSpanProcessor(OTLPSpanExporter(compression=compression)))
logs = LoggerProvider()
logs.add_log_record_processor(BatchLogRecordProcessor(OTLPLogExporter(compression=compression)))
tracer = traces.get_tracer("agent")
logger = logs.get_logger("agent")


def chat(sent, received):
    return {
        "gen_ai.operation.name": "chat",
        "gen_ai.system": "openai",
        "gen_ai.request.model": "gpt-4o",
        "gen_ai.usage.input_tokens": sent,
        "gen_ai.usage.output_tokens": received,
    }


with tracer.start_as_current_span("invoke_agent clerk", attributes={"gen_ai.operation.name": "invoke_agent"}):
    with tracer.start_as_current_span("chat gpt-4o", attributes=chat(120, 20)):
        pass
    call = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "lookup_order"}
    call["gen_ai.tool.call.arguments"] = json.dumps({"order_id": "42"})
    with tracer.start_as_current_span("execute_tool lookup_order", attributes=call):
        pass
    with tracer.start_as_current_span("chat gpt-4o", attributes=chat(150, 30)):
        body = {"index": 0, "message": {"role": "assistant", "content": "Order 42 has shipped."}}
        logger.emit(LogRecord(event_name="gen_ai.choice", body=body))

traces.shutdown()
logs.shutdown()
