# gdb commands for the server's fibers:
#   co-list            every fiber: number, name, scope, state, age
#   co-bt [NUMBER]     the stack of one fiber, or of all (at most 12 frames each)
#   co-switch NUMBER   look from inside that fiber: bt, up, info locals and print are its own
#   co-back            returns to the current fiber; automatic before the process continues
# Load with:  gdb -p $(pidof srs) -ex 'source trunk/tools/gdb/co.py' -ex co-list
#
# A parked fiber's registers lie in its thread object (struct live_context, see src/io/st/md.h). co-bt and co-switch put them into the
# stopped thread's registers, and the old ones back afterwards, so they need a live process, not a core file.
import gdb

REGISTERS = {
    "x86_64": ["rbx", "rbp", "r12", "r13", "r14", "r15", "rsp", "rip"],
    "aarch64": ["x%d" % n for n in range(19, 31)] + ["sp"],
}
STATES = {0: "running", 1: "runnable", 2: "waiting", 4: "waiting", 5: "sleeping"}
ON_SLEEP_QUEUE = 0x04
FRAMES_MAX = 12


def architecture():
    name = gdb.selected_frame().architecture().name()
    return "aarch64" if "aarch64" in name else "x86_64"


def text_of(std_string):
    data, size = std_string["_M_dataplus"]["_M_p"], int(std_string["_M_string_length"])
    return data.string(length=size) if size else ""


def fibers():
    """The primordial fiber, then all others."""
    loop = gdb.parse_and_eval("'live::io::st::the_loop'")
    if int(loop) == 0:
        raise gdb.GdbError("the process has no loop yet")
    state = loop.dereference()
    yield state["primordial"]
    fiber = state["fibers"]
    while int(fiber) != 0:
        yield fiber.dereference()
        fiber = fiber["next"]


def describe(number, fiber):
    thread = fiber["thread"]
    state = STATES.get(int(thread["state"]), "?")
    if state == "waiting" and int(thread["flags"]) & ON_SLEEP_QUEUE:
        state = "waiting with a deadline"
    if int(thread) == int(gdb.parse_and_eval("_st_this_thread")):
        state = "running"
    scope = fiber["scope"]
    owner = " scope %s" % text_of(scope.dereference()["name_"]) if int(scope) else ""
    cancelled = "  cancelled" if fiber["cancelled"] else ""
    return "%4d  %-24s%s  %s  %s old%s" % (number, text_of(fiber["name"]), owner, state, age_of(fiber), cancelled)


def age_of(fiber):
    """By the loop's clock, which stands still while the process is stopped."""
    now_us = int(gdb.parse_and_eval("_st_this_vp.last_clock"))
    return "%.1f s" % (now_us / 1e6 - int(fiber["started"]["__d"]["__r"]) / 1e9)


def is_current(fiber):
    return int(fiber["thread"]) == int(gdb.parse_and_eval("_st_this_thread"))


def saved_registers(fiber):
    slots = fiber["thread"].dereference()["context"][0]["slot"]
    kind = architecture()
    saved = {name: int(slots[index]) for index, name in enumerate(REGISTERS[kind])}
    if kind == "aarch64":
        saved["pc"] = saved["x30"]
    return saved


def registers_now(names):
    gdb.execute("select-frame 0")
    return {name: int(gdb.parse_and_eval("(unsigned long)$%s" % name)) for name in names}


def backtrace(fiber):
    if is_current(fiber):
        print("      (this is where the process is: bt)")
        return
    saved = saved_registers(fiber)
    before = registers_now(saved)
    try:
        set_registers(saved)
        gdb.execute("bt %d" % FRAMES_MAX)
    finally:
        set_registers(before)


def set_registers(values):
    # The program counter last: writing it makes gdb forget the frames it knew.
    for name in sorted(values, key=lambda register: register in ("rip", "pc")):
        gdb.execute("select-frame 0")
        gdb.execute("set $%s = %d" % (name, values[name]))


class CoList(gdb.Command):
    """List the fibers of the process."""

    def __init__(self):
        super().__init__("co-list", gdb.COMMAND_STACK)

    def invoke(self, argument, from_tty):
        all_fibers = list(fibers())
        for number, fiber in enumerate(all_fibers):
            print(describe(number, fiber))
        print("%d fibers" % len(all_fibers))


class CoBt(gdb.Command):
    """Print the stack of one fiber (by its number in co-list) or of all."""

    def __init__(self):
        super().__init__("co-bt", gdb.COMMAND_STACK)

    def invoke(self, argument, from_tty):
        wanted = int(argument) if argument.strip() else None
        for number, fiber in enumerate(fibers()):
            if wanted is None or number == wanted:
                print(describe(number, fiber))
                backtrace(fiber)


class CoSwitch(gdb.Command):
    """Look from inside one fiber (by its number in co-list) until co-back."""

    home = None  # the process's own registers while it looks from somewhere else
    thread = None

    def __init__(self):
        super().__init__("co-switch", gdb.COMMAND_STACK)

    def invoke(self, argument, from_tty):
        go_back()
        number = int(argument)
        fiber = next((one for place, one in enumerate(fibers()) if place == number), None)
        if fiber is None:
            raise gdb.GdbError("there is no fiber %d: co-list" % number)
        print(describe(number, fiber))
        if is_current(fiber):
            return
        saved = saved_registers(fiber)
        CoSwitch.thread = gdb.selected_thread()
        CoSwitch.home = registers_now(saved)
        set_registers(saved)
        gdb.execute("frame")


class CoBack(gdb.Command):
    """Back to where the process is."""

    def __init__(self):
        super().__init__("co-back", gdb.COMMAND_STACK)

    def invoke(self, argument, from_tty):
        go_back()


def go_back():
    if CoSwitch.home is None:
        return
    CoSwitch.thread.switch()
    set_registers(CoSwitch.home)
    CoSwitch.home = None


CoList()
CoBt()
CoSwitch()
CoBack()
# The process must never continue with the registers of another fiber.
for command in ("continue", "step", "stepi", "next", "nexti", "finish", "until", "advance", "jump", "call", "signal", "detach", "kill", "quit"):
    gdb.execute("define hook-%s\nco-back\nend" % command)
if hasattr(gdb.events, "gdb_exiting"):
    gdb.events.gdb_exiting.connect(lambda event: go_back())
