#!/bin/sh
# Parses a file and prints the JSON response. With jq: sh parse.sh FILE | jq -r .data.markdown
# usage: sh parse.sh FILE
set -eu
: "${1:?usage: sh parse.sh FILE}"

curl --silent --show-error --fail-with-body "$FIRECRAWL_API_URL/v2/parse" \
  --header "Authorization: Bearer $FIRECRAWL_API_KEY" \
  --form "file=@$1" \
  --form 'options={"formats": ["markdown"]}'
