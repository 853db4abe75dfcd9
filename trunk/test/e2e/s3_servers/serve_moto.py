"""moto as a server that checks signatures by its own implementation, once the bucket exists: serve_moto.py PORT KEY SECRET."""

import os
import sys

PORT, KEY, SECRET = sys.argv[1:4]
os.environ["MOTO_S3_CUSTOM_ENDPOINTS"] = f"http://127.0.0.1:{PORT}"

from moto.server import main  # noqa: E402  pylint: disable=wrong-import-position

main(["-H", "127.0.0.1", "-p", PORT])
