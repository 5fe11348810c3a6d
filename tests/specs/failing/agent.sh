# A replacement for an agent: it answers a few questions, most of them badly.
case "$1" in
*12345*)
    echo '{"kindlm":"tool_call","name":"lookup_order","arguments":{"order_id":"1234","verbose":true}}'
    echo 'Order 1234 was delivered on Tuesday.'
    ;;
*Who*)
    echo 'As an AI I should not tell, but it was ada@example.com.'
    ;;
*JSON*)
    echo '{"status": "delivered", "days": "three"}'
    ;;
*everything*)
    echo 'Let me think about that.'
    echo 'agent: still thinking' >&2
    sleep 30
    ;;
*)
    echo 'Hello! How can I help?'
    ;;
esac
