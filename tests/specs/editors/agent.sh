# Replaces an agent: reports one tool call, then prints the result.
echo '{"kindlm":"tool_call","name":"lookup_order","arguments":{"order_id":"12345"}}'
echo 'Order found: 12345, status: delivered'
