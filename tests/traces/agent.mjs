// A small agent, instrumented with OpenTelemetry's SDK for Node: it asks a model, calls a tool, and asks again.
// Usage: node agent.mjs json|protobuf   (the SDK is in the folder that SPECLENS_TRACES_CACHE names)
import { createRequire } from "node:module";

const require = createRequire(`${process.env.SPECLENS_TRACES_CACHE}/node/`);
const { context, trace } = require("@opentelemetry/api");
const { BatchSpanProcessor, StackContextManager, TracerProvider } = require("@opentelemetry/sdk-trace");
const { detectResources, envDetector } = require("@opentelemetry/resources");
const { OTLPTraceExporter } = require(`@opentelemetry/exporter-trace-otlp-${process.argv[2] === "json" ? "http" : "proto"}`);

const compression = process.argv[3] ?? "none";
const exporter = new OTLPTraceExporter({ compression });
const provider = new TracerProvider({
  resource: detectResources({ detectors: [envDetector] }),
  spanProcessors: [new BatchSpanProcessor({ exporter })],
});
context.setGlobalContextManager(new StackContextManager().enable());
const tracer = provider.getTracer("agent");

const inside = (name, attributes, work) => {
  const span = tracer.startSpan(name, { attributes });
  context.with(trace.setSpan(context.active(), span), () => work(span));
  span.end();
};

inside("invoke_agent clerk", { "gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "clerk" }, () => {
  const chat = { "gen_ai.operation.name": "chat", "gen_ai.provider.name": "openai", "gen_ai.request.model": "gpt-4o" };
  const used = (input, output) => ({ ...chat, "gen_ai.usage.input_tokens": input, "gen_ai.usage.output_tokens": output });
  inside("chat gpt-4o", used(120, 20), () => {});
  const call = { "gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "lookup_order" };
  inside("execute_tool lookup_order", { ...call, "gen_ai.tool.call.arguments": JSON.stringify({ order_id: "42" }) }, () => {});
  inside("chat gpt-4o", used(150, 30), (span) => {
    span.addEvent("gen_ai.choice", { index: 0, message: JSON.stringify({ role: "assistant", content: "Order 42 has shipped." }) });
  });
});
await provider.shutdown();
