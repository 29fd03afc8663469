/**
 * Gives a command a terminal where only python3 is there: argument 1 is the program, the rest its arguments. Copies standard input to
 * the terminal and the terminal to standard output, never waiting for one with the other, and ends as the command did.
 */
export const PTY_PYTHON = `
import os, pty, resource, select, signal, sys
pid, master = pty.fork()
if pid == 0:
    try:
        os.execv(sys.argv[1], sys.argv[1:])
    except OSError as error:
        os.write(2, ('%s: %s\\n' % (sys.argv[1], error.strerror)).encode())
    os._exit(127)
for number in (signal.SIGINT, signal.SIGQUIT, signal.SIGHUP):
    signal.signal(number, signal.SIG_IGN)
woken, waker = os.pipe()
for end in (woken, waker, master):
    os.set_blocking(end, False)
signal.set_wakeup_fd(waker)
signal.signal(signal.SIGCHLD, lambda *_: None)
def copy_output():
    try:
        data = os.read(master, 65536)
    except BlockingIOError:
        return True
    except OSError:
        return False
    while data:
        data = data[os.write(1, data):]
    return True
pending, reading, showing, status = b'', True, True, None
while True:
    done, status = os.waitpid(pid, os.WNOHANG)
    if done:
        break
    inputs = [woken] + ([master] if showing else []) + ([0] if reading and len(pending) < 65536 else [])
    ready, writable, _ = select.select(inputs, [master] if pending and showing else [], [])
    if woken in ready:
        os.read(woken, 512)
    if master in ready:
        showing = copy_output()
    if 0 in ready:
        data = os.read(0, 4096)
        pending, reading = pending + data, bool(data)
    if master in writable:
        try:
            pending = pending[os.write(master, pending):]
        except BlockingIOError:
            pass
while showing and select.select([master], [], [], 0.03)[0]:
    showing = copy_output()
if os.WIFSIGNALED(status):
    number = os.WTERMSIG(status)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    if number != signal.SIGKILL:
        signal.signal(number, signal.SIG_DFL)
    os.kill(os.getpid(), number)
os._exit(os.WEXITSTATUS(status))
`
