"""Prints one greeting as JSON."""

import argparse
import json


def main() -> None:
    parser = argparse.ArgumentParser(prog="hello-world", allow_abbrev=False)
    parser.add_argument("--name", default="world")
    name = parser.parse_args().name
    print(json.dumps({"greeting": f"Hello, {name}!"}))


if __name__ == "__main__":
    main()
