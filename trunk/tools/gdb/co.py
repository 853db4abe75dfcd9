# gdb commands for the server's fibers:
#   co-list            every fiber: number, name, scope, state
#   co-bt [NUMBER]     the stack of one fiber, or of all (at most 12 frames each)
# Load with:  gdb -p $(pidof srs) -ex 'source trunk/tools/gdb/co.py' -ex co-list
#
# A parked fiber's registers lie in its thread object (struct live_context, see src/io/st/md.h). co-bt puts them into the stopped
# thread's registers, asks gdb for a backtrace and puts the old ones back, so it needs a live process, not a core file.
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
    return "%4d  %-24s%s  %s%s" % (number, text_of(fiber["name"]), owner, state, "  cancelled" if fiber["cancelled"] else "")


def backtrace(fiber):
    thread = fiber["thread"].dereference()
    if int(fiber["thread"]) == int(gdb.parse_and_eval("_st_this_thread")):
        print("      (this is where the process is: bt)")
        return
    slots = thread["context"][0]["slot"]
    kind = architecture()
    saved = {name: int(slots[index]) for index, name in enumerate(REGISTERS[kind])}
    if kind == "aarch64":
        saved["pc"] = saved["x30"]
    gdb.execute("select-frame 0")
    before = {name: int(gdb.parse_and_eval("(unsigned long)$%s" % name)) for name in saved}
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


CoList()
CoBt()
