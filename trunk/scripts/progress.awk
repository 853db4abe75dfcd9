# A build's words as one line that counts, for scripts/run.sh: ninja's "[12/345] ..." and make's "[ 12%] ...". On a terminal (-v tty=1)
# the line is written over itself; elsewhere there is one for each fifth of the way. -v what=NAME stands in front.
function tell(percent) {
    if (percent == told) return
    if (tty) { printf "\r%s: %3d %%", what, percent; open = 1 }
    else if (percent == 100 || percent >= told + 20) printf "%s: %3d %%\n", what, percent
    else return
    told = percent
    fflush()
}
BEGIN { told = -20 }
match($0, /^\[[0-9]+\/[0-9]+\]/) {
    split(substr($0, 2, RLENGTH - 2), step, "/")
    # A step or two to look whether there is anything to do is no build.
    if (step[2] > 4) tell(int(100 * step[1] / step[2]))
}
match($0, /^\[ *[0-9]+%\]/) { tell(substr($0, 2, RLENGTH - 3) + 0) }
END { if (open) printf "\n" }
