#!/bin/sh
# Stands in for an agent: prints text, and tells which tools it called, as events of the KindLM protocol.
order="$1"
echo "Looking for order $order ..."
printf '{"kindlm":"tool_call","name":"lookup_order","arguments":{"order_id":"%s","options":{"history":true}}}\n' "$order"
case "$order" in
    1*)
        printf '{"kindlm":"tool_call","name":"check_refund","arguments":{"order_id":"%s"}}\n' "$order"
        echo "Your order $order can be refunded within 30 days."
        ;;
    *)
        echo "I cannot find order $order. Please check the number."
        ;;
esac
