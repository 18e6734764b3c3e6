#!/usr/bin/env bash
# An agent in bash: it offers one tool and answers its calls until Ctrl-C. Needs curl and jq.
#
#   toolwire agent create shell --json > shell.json      # {"agent_id": "agent_…", "agent_key": "agk_…"}
#   AGENT_ID=$(jq -r .agent_id shell.json) TOOLWIRE_AGENT_KEY=$(jq -r .agent_key shell.json) bash agent.sh
set -euo pipefail
api="${TOOLWIRE_URL:-http://127.0.0.1:8094}/api/v1"

post() { # PATH BODY
  curl -sS --fail-with-body -X POST "$api/$1" -d "$2" \
    -H "Authorization: Bearer $TOOLWIRE_AGENT_KEY" -H "Content-Type: application/json"
}

post agents/sync '{"agents": [{"name": "shell", "skills": [{
  "name": "count_words", "description": "Count the words of a text.", "exposeAsTool": true,
  "inputSchema": {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}
}]}]}' > /dev/null

while true; do
  post "agents/$AGENT_ID/deliveries/read" '{"max": 10, "block_ms": 20000}' | jq -c '.data[]' |
    while read -r delivery; do
      words=$(jq -r '.message.payload.tool.arguments.text' <<< "$delivery" | wc -w)
      reply=$(jq --arg text "$words words" '{type: "agent_reply", in_reply_to: .message.message_id,
        payload: {text: $text}}' <<< "$delivery")
      post "channels/$(jq -r '.message.channel_id' <<< "$delivery")/messages" "$reply" > /dev/null
      post "agents/$AGENT_ID/deliveries/ack" "$(jq '{delivery_ids: [.delivery_id]}' <<< "$delivery")" > /dev/null
    done || sleep 1
done
