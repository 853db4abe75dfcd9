"""The man page and the bash completion of the server, made from its own help text, so that no option is described twice.

command_pages.py man|completion PROGRAM
"""

import re
import subprocess
import sys

FILES = """
.SH FILES
.TP
.I /etc/millrace/millrace.conf
The settings of the service.
.TP
.I /var/lib/millrace
HLS and DASH files, and recordings.
.TP
.I /var/log/millrace
The log and the access log. The server rotates both.
.TP
.I /usr/share/doc/millrace/examples/full.conf
Every directive with its default.
.SH EXIT STATUS
0 after a stop by a signal. Otherwise the error code modulo 256: 255 for invalid settings, 235 for a port in use, 11 for a second server with the same pid file.
.SH SEE ALSO
The manual: http://SERVER:8080/docs/
"""


def sections(text: str) -> dict[str, list[str]]:
    """The indented lines below each line that ends with a colon."""
    found: dict[str, list[str]] = {}
    name = ""
    for line in text.splitlines():
        if line.endswith(":") and not line.startswith(" "):
            name = line[:-1]
        elif line.startswith("   ") and name:
            found.setdefault(name, []).append(line.strip())
    return found


def options_of(text: str) -> list[tuple[list[str], str, str]]:
    """Letters, the name of the value, the meaning."""
    found = []
    for line in sections(text)["Options"]:
        form, meaning = re.split(r"\s{2,}", line, maxsplit=1)
        names = re.findall(r"-[\w?]", form)
        found.append((names, form.split(names[-1])[1].strip(" ,"), meaning))
    return found


def escaped(text: str) -> str:
    return text.replace("\\", "\\e").replace("-", "\\-").replace("'", "\\(aq")


def man_page(text: str) -> str:
    title = re.match(r"Millrace, (\S+): (.*)", text)
    assert title, "the help text begins with the signature"
    version = title[1].split("/")[1].split("(")[0]
    lines = [f'.TH SRS 8 "" "Millrace {version}" "System Administration"', ".SH NAME", "srs, millrace \\- live\\-streaming server", ".SH SYNOPSIS"]
    for usage in re.findall(r"^(?:Usage:|      ) \S+ (<.*)$", text, re.M):
        lines += [".B srs", escaped(usage), ".br"]
    lines += [".SH DESCRIPTION", escaped(f"Millrace is {title[2]}."), ".SH OPTIONS"]
    for names, value, meaning in options_of(text):
        lines += [".TP", ".BR " + ' ", " '.join(escaped(name) for name in names) + (f' " {value}"' if value else ""), escaped(meaning[0].upper() + meaning[1:]) + "."]
    lines += [".SH ENVIRONMENT", escaped(re.search(r"^Every directive.*$", text, re.M)[0]), ".SH SIGNALS"]
    for line in sections(text)["Signals"]:
        meaning, name, _ = re.split(r"\s{2,}", line, maxsplit=2)
        lines += [".TP", f".B {name}", escaped(meaning[0].upper() + meaning[1:]) + "."]
    lines += [".SH EXAMPLES", ".nf"]
    lines += [escaped(re.sub(r"\S*/srs(?=\s)", "srs", line)) for line in sections(text)["For example"]]
    return "\n".join(lines) + "\n.fi" + FILES


def completion(text: str) -> str:
    letters = " ".join(name for names, _, _ in options_of(text) for name in names if name != "-?")
    with_file = "|".join(name for names, value, _ in options_of(text) for name in names if value == "FILE")
    return f"""# bash completion for srs and millrace
_millrace() {{
    local word=${{COMP_WORDS[COMP_CWORD]}} before=${{COMP_WORDS[COMP_CWORD - 1]}}
    case $before in
        {with_file}) mapfile -t COMPREPLY < <(compgen -f -X '!*.conf' -- "$word"; compgen -d -- "$word") ;;
        *) mapfile -t COMPREPLY < <(compgen -W '{letters}' -- "$word") ;;
    esac
}}
complete -o filenames -F _millrace srs millrace
"""


def main() -> None:
    kind, program = sys.argv[1:]
    text = subprocess.run([program, "-h"], check=True, capture_output=True, text=True).stdout
    sys.stdout.write({"man": man_page, "completion": completion}[kind](text))


if __name__ == "__main__":
    main()
