"""Evaluates a task twice with Inspect and a scripted model that calls a tool, and writes the log.

Usage: inspect_log.py DIRECTORY json|eval
"""
import sys

from inspect_ai import Task, eval
from inspect_ai.dataset import Sample
from inspect_ai.model import ModelOutput, ModelUsage, get_model
from inspect_ai.scorer import includes
from inspect_ai.solver import generate, system_message, use_tools
from inspect_ai.tool import tool


@tool
def look_up():
    async def execute(order: int) -> str:
        """Look up an order.

        Args:
            order: The number of the order.
        """
        return f"order {order}: shipped"

    return execute


directory, form = sys.argv[1:]
attempt = [
    ModelOutput.for_tool_call("mockllm/model", "look_up", {"order": 12}),
    ModelOutput.from_content("mockllm/model", "Order 12 has shipped."),
]
for output in attempt:
    # Without it, Inspect downloads a tokenizer.
    output.usage = ModelUsage(input_tokens=20, output_tokens=5, total_tokens=25)
task = Task(
    dataset=[Sample(id="order-12", input="Where is order 12?", target="shipped")],
    solver=[system_message("Be brief."), use_tools(look_up()), generate()],
    scorer=includes(),
)
model = get_model("mockllm/model", custom_outputs=attempt * 2)
eval(task, model=model, epochs=2, max_connections=1, max_samples=1, log_dir=directory, log_format=form, display="none")
