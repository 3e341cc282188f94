#!/bin/sh
# Scrapes one page to markdown and links, and prints the JSON response. With jq: sh scrape.sh URL | jq -r .data.markdown
# usage: sh scrape.sh URL
set -eu
: "${1:?usage: sh scrape.sh URL}"

curl --silent --show-error --fail-with-body "$FIRECRAWL_API_URL/v2/scrape" \
  --header "Authorization: Bearer $FIRECRAWL_API_KEY" \
  --header "Content-Type: application/json" \
  --data "{\"url\": \"$1\", \"formats\": [\"markdown\", \"links\"]}"
