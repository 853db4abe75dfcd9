"""The kinds of credentials of a client, right and not, as the query of a URL."""

from access_site import run, signed, token, user
from live_server import LiveServer


class Tokens:
    def root(self, _folder) -> str:
        return ""

    def queries(self, live: LiveServer, verb: str) -> dict[str, str]:
        right = token(live, f"--{verb}", "live/cam")
        return {"none": "", "wrong": "token=" + right[:-6] + "AAAAAA", "expired": "token=" + token(live, f"--{verb}", "live/cam", "--expires", "-5s"),
                "other path": "token=" + token(live, f"--{verb}", "live/cam2"),
                "other right": "token=" + token(live, "--play" if verb == "publish" else "--publish", "live/cam"), "right": "token=" + right}


class SignedUrls:
    def root(self, _folder) -> str:
        return ""

    def queries(self, live: LiveServer, verb: str) -> dict[str, str]:
        flags = ["--publish"] if verb == "publish" else []
        others = [] if flags else ["--publish"]
        right = signed(live, live.url("cam"), *flags)
        return {"none": "", "wrong": right[:-6] + "AAAAAA", "expired": signed(live, live.url("cam"), *flags, "--expires", "-5s"),
                "other path": signed(live, live.url("cam2"), *flags), "other right": signed(live, live.url("cam"), *others),
                "other address": signed(live, live.url("cam"), *flags, "--address", "192.0.2.1"), "right": right}


class Users:
    def root(self, folder) -> str:
        site = LiveServer(folder / "hash", "listen 1935;")
        rights = {"right": ("publish live/cam", "play live/cam"), "other": ("publish live/cam2", "play live/cam2")}
        blocks = [user(name, run(site, "hash", given=f"{name} secret\n"), *allowed) for name, allowed in rights.items()]
        for name, allowed in (("player", "play"), ("publisher", "publish")):
            blocks.append(user(name, run(site, "hash", "--sha256", given=f"{name} secret\n"), allowed))
        blocks.append(user("elsewhere", run(site, "hash", "--sha256", given="elsewhere secret\n"), "play", "publish", more="network 192.0.2.0/24;"))
        return "".join(blocks)

    def queries(self, _live, verb: str) -> dict[str, str]:
        def of(name: str, password: str = "") -> str:
            return f"user={name}&pass={password or name + '%20secret'}"
        # After each wrong password the address waits a little: so few, and the right one first.
        return {"right": of("right"), "none": "", "other path": of("other"), "other right": of("player" if verb == "publish" else "publisher"),
                "other address": of("elsewhere"), "wrong": of("right", "wrong"), "unknown": of("nobody")}


SCHEMES = {"token": Tokens, "signed URL": SignedUrls, "user": Users}
