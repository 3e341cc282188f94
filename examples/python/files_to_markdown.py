"""Parses files (PDF, Word, Excel, e-mail, pictures, …) and saves each as a markdown file.

usage: python files_to_markdown.py FOLDER FILE...
"""

import os
import sys
from pathlib import Path

from firecrawl import Firecrawl
from firecrawl.v2.types import ParseOptions

if len(sys.argv) < 3:
    sys.exit(__doc__)
folder = Path(sys.argv[1])
folder.mkdir(parents=True, exist_ok=True)
client = Firecrawl(api_key=os.environ["FIRECRAWL_API_KEY"], api_url=os.environ["FIRECRAWL_API_URL"])
failed = 0

for name in sys.argv[2:]:
    try:
        document = client.parse(name, options=ParseOptions(formats=["markdown"]))
    except Exception as error:
        print(f"{name}: {error}", file=sys.stderr)
        failed = 1
        continue
    file = folder / f"{Path(name).name}.md"
    file.write_text(document.markdown, encoding="utf-8")
    print(file)
sys.exit(failed)
