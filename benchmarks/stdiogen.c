/*
 * stdiogen: a load generator for JSON-RPC servers on stdin and stdout.
 *
 * It starts the server, says what opens the conversation, and then keeps a number of
 * requests under way, one a line (a closed loop).  It prints one JSON object on stdout.
 * It does not repeat itself: that is measure.py.
 *
 *   stdiogen --body FILE [--opening FILE] [--depth 16] [--core N] [--duration SECONDS]
 *            [--warmup SECONDS] [--expect TEXT] [--first N] -- COMMAND [ARGUMENT ...]
 *
 * --body     the request, one line; each "%N" becomes its number, ten digits, never
 *            used twice.  The answer is told by that number, which is its id.
 * --opening  lines to begin with; whoever has an "id" is answered before the next.
 * --core     the core of the server.
 * --expect   text that every answer must contain.
 *
 * The CPU time of the server is taken while it is measured, start-up not included.
 * Exit status: 0 answers were counted, 1 there were none, 2 it could not run.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tally.h"

enum {
    LINE_BYTES = 1 << 20,
    DIGITS = 10,
    STARTS = 1 << 16, /* more than there are requests under way */
    SLOTS_MAX = 16,
    ANSWER_LIMIT_S = 20,
};

static const char *body_file, *opening_file, *expect = "";
static int depth = 16, core = -1, measuring, under_way;
static double duration_s = 4, warmup_s = 1;
static uint64_t first = 1000000000, next_number, starts[STARTS];
static int to_server, from_server;
static pid_t server;

static char *request, *unsent;
static size_t request_bytes, unsent_from, unsent_to, unsent_room;
static size_t slots[SLOTS_MAX];
static int slot_count;
static char *line;
static size_t line_bytes;

static char *read_file(const char *name) {
    FILE *f = fopen(name, "rb");
    if (!f) die(name);
    char *text = calloc(1, LINE_BYTES);
    if (!text) die("calloc");
    if (fread(text, 1, LINE_BYTES - 2, f) == 0) die(name);
    fclose(f);
    return text;
}

static void read_body(void) {
    char *template = read_file(body_file);
    template[strcspn(template, "\r\n")] = 0;
    request = calloc(1, strlen(template) * (DIGITS / 2) + 2);
    char *to = request;
    for (const char *from = template; *from;) {
        if (from[0] == '%' && from[1] == 'N') {
            if (slot_count == SLOTS_MAX) refuse("too many %N in the body");
            slots[slot_count++] = (size_t)(to - request);
            to += DIGITS;
            from += 2;
        } else {
            *to++ = *from++;
        }
    }
    *to++ = '\n';
    request_bytes = (size_t)(to - request);
    free(template);
    unsent_room = request_bytes * (size_t)(depth + 1);
    unsent = malloc(unsent_room);
    line = malloc(LINE_BYTES);
    if (!unsent || !line) die("malloc");
}

static void start_server(char **command) {
    int in[2], out[2];
    if (pipe(in) || pipe(out)) die("pipe");
    server = fork();
    if (server < 0) die("fork");
    if (server == 0) {
        if (core >= 0) {
            cpu_set_t cores;
            CPU_ZERO(&cores);
            CPU_SET(core, &cores);
            if (sched_setaffinity(0, sizeof cores, &cores)) die("sched_setaffinity");
        }
        if (dup2(in[0], 0) < 0 || dup2(out[1], 1) < 0) die("dup2");
        close(in[0]), close(in[1]), close(out[0]), close(out[1]);
        execvp(command[0], command);
        die(command[0]);
    }
    close(in[0]), close(out[1]);
    to_server = in[1], from_server = out[0];
}

static double server_cpu_seconds(void) {
    clockid_t clock;
    struct timespec t;
    if (clock_getcpuclockid(server, &clock) || clock_gettime(clock, &t)) return 0;
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void wait_for(int fd, short what) {
    struct pollfd one = {.fd = fd, .events = what};
    int ready = poll(&one, 1, ANSWER_LIMIT_S * 1000);
    if (ready <= 0) refuse("the server does not answer");
}

/* Says the opening lines, each request of which is answered before the next; what the answers say is not looked at. */
static void open_conversation(void) {
    if (!opening_file) return;
    char *lines = read_file(opening_file), *rest = lines, *each;
    while ((each = strsep(&rest, "\n"))) {
        size_t n = strlen(each);
        if (n == 0) continue;
        each[n] = '\n';
        if (write(to_server, each, n + 1) != (ssize_t)(n + 1)) die("write");
        each[n] = 0;
        if (!strstr(each, "\"id\":")) continue;
        char c = 0;
        do {
            wait_for(from_server, POLLIN);
            if (read(from_server, &c, 1) != 1) refuse("the server ended in the opening");
        } while (c != '\n');
    }
    free(lines);
}

static void ask(void) {
    char number[DIGITS + 1];
    snprintf(number, sizeof number, "%0*llu", DIGITS, (unsigned long long)next_number);
    for (int i = 0; i < slot_count; i++) memcpy(request + slots[i], number, DIGITS);
    if (unsent_from == unsent_to) unsent_from = unsent_to = 0;
    if (unsent_to + request_bytes > unsent_room) {
        memmove(unsent, unsent + unsent_from, unsent_to - unsent_from);
        unsent_to -= unsent_from, unsent_from = 0;
    }
    memcpy(unsent + unsent_to, request, request_bytes);
    unsent_to += request_bytes;
    starts[next_number++ % STARTS] = now_ns();
    under_way++;
}

static void hear(const char *text, size_t n) {
    const char *id = memmem(text, n, "\"id\":", 5);
    if (!id) return; /* a notification */
    uint64_t number = strtoull(id + 5, NULL, 10);
    if (number < first || number >= next_number || !starts[number % STARTS]) {
        count_error("an answer to nothing that was asked", text, n);
        return;
    }
    uint64_t took = now_ns() - starts[number % STARTS];
    starts[number % STARTS] = 0;
    under_way--;
    if (!measuring) return;
    if (*expect && !memmem(text, n, expect, strlen(expect))) count_error("the text is missing", text, n);
    else if (memmem(text, n, "\"error\":", 8) || memmem(text, n, "\"isError\":true", 14)) count_error("an error", text, n);
    else count_ok(took);
}

static void take_lines(void) {
    ssize_t n = read(from_server, line + line_bytes, LINE_BYTES - line_bytes);
    if (n == 0) refuse("the server ended");
    if (n < 0) {
        if (errno == EAGAIN || errno == EINTR) return;
        die("read");
    }
    line_bytes += (size_t)n;
    char *from = line, *end;
    while ((end = memchr(from, '\n', line_bytes - (size_t)(from - line)))) {
        hear(from, (size_t)(end - from));
        from = end + 1;
    }
    line_bytes -= (size_t)(from - line);
    memmove(line, from, line_bytes);
    if (line_bytes == LINE_BYTES) refuse("an answer is too long");
}

static void converse(double seconds) {
    uint64_t end = now_ns() + (uint64_t)(seconds * 1e9);
    while (now_ns() < end) {
        while (under_way < depth) ask();
        struct pollfd both[2] = {{.fd = from_server, .events = POLLIN},
                                 {.fd = to_server, .events = unsent_from < unsent_to ? POLLOUT : 0}};
        int ready = poll(both, 2, ANSWER_LIMIT_S * 1000);
        if (ready < 0 && errno != EINTR) die("poll");
        if (ready == 0) refuse("the server does not answer");
        if (both[1].revents) {
            ssize_t n = write(to_server, unsent + unsent_from, unsent_to - unsent_from);
            if (n < 0 && errno != EAGAIN && errno != EINTR) die("write");
            if (n > 0) unsent_from += (size_t)n;
        }
        if (both[0].revents) take_lines();
    }
}

static char **read_options(int argc, char **argv) {
    int i = 1;
    for (; i + 1 < argc && strcmp(argv[i], "--"); i += 2) {
        const char *name = argv[i], *value = argv[i + 1];
        if (!strcmp(name, "--body")) body_file = value;
        else if (!strcmp(name, "--opening")) opening_file = value;
        else if (!strcmp(name, "--depth")) depth = atoi(value);
        else if (!strcmp(name, "--core")) core = atoi(value);
        else if (!strcmp(name, "--duration")) duration_s = atof(value);
        else if (!strcmp(name, "--warmup")) warmup_s = atof(value);
        else if (!strcmp(name, "--expect")) expect = value;
        else if (!strcmp(name, "--first")) first = strtoull(value, NULL, 10);
        else refuse(name);
    }
    if (i + 1 >= argc || !body_file || depth < 1 || depth >= STARTS) refuse("--body FILE ... -- COMMAND is needed");
    next_number = first;
    return argv + i + 1;
}

int main(int argc, char **argv) {
    char **command = read_options(argc, argv);
    signal(SIGPIPE, SIG_IGN);
    read_body();
    start_server(command);
    open_conversation();
    fcntl(to_server, F_SETFL, O_NONBLOCK);
    fcntl(from_server, F_SETFL, O_NONBLOCK);
    converse(warmup_s);
    measuring = 1;
    double cpu = cpu_seconds(), servers = server_cpu_seconds();
    uint64_t start = now_ns();
    converse(duration_s);
    double wall = (double)(now_ns() - start) / 1e9;
    servers = server_cpu_seconds() - servers;
    printf("{\"conns\":%d,", depth);
    print_tally(wall);
    printf(",\"client_cpu\":%.3f,\"server_cpu_s\":%.6f}\n", (cpu_seconds() - cpu) / wall, servers);
    kill(server, SIGTERM);
    close(to_server);
    waitpid(server, NULL, 0);
    return ok_count ? 0 : 1;
}
