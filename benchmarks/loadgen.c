/*
 * loadgen: a closed-loop HTTP/1.1 POST load generator for JSON-RPC servers.
 *
 * One thread, one epoll set, one keep-alive connection per unit of concurrency and
 * one outstanding request per connection.  It prints one JSON object on stdout.
 * It does not start servers, choose cores or repeat itself: that is measure.py.
 *
 *   loadgen --port N --body FILE [--host IPV4] [--path /mcp] [--conns 16]
 *           [--duration SECONDS] [--warmup SECONDS] [--headers FILE]
 *           [--conn-headers FILE] [--expect TEXT] [--first N]
 *
 * --body          request body; each "%N" becomes the request's number, ten digits,
 *                 the same at every place of one request and never used twice.  The
 *                 answer must contain it, so a crossed reply is noticed.
 * --headers       more request headers, one "Name: value" a line.
 * --conn-headers  line i is one more header of connection i (its Mcp-Session-Id).
 * --expect        text that every answer must contain.
 * --first         number of the first request; a run whose numbers are idempotency
 *                 keys starts where no earlier run has been.
 *
 * An answer counts as an error when its status is not 200 or a check fails.  Bodies
 * may have a length, be chunked or end with the connection (it then reconnects).
 * Exit status: 0 answers were counted, 1 there were none, 2 it could not run.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tally.h"

enum {
    BUFFER_BYTES = 1 << 20,
    DIGITS = 10,
    SLOTS_MAX = 16,
    EVENTS = 256,
};

typedef struct {
    const char *host, *path, *expect, *body_file, *headers_file, *conn_headers_file;
    int port, conns;
    double duration_s, warmup_s;
    uint64_t first;
} Options;

typedef struct {
    int fd;
    char *request; /* whole request; the number is written into its slots */
    size_t request_bytes, sent;
    size_t slots[SLOTS_MAX];
    int slot_count;
    char *buffer;
    size_t received;
    uint64_t start_ns;
    char number[DIGITS + 1];
} Connection;

typedef struct {
    char *body;
    size_t body_bytes;
    int status, keep_alive;
} Response;

static Options options = {.host = "127.0.0.1", .path = "/mcp", .port = 8000, .conns = 1,
                          .duration_s = 4, .warmup_s = 1, .first = 1000000000};
static struct sockaddr_in address;
static int epoll_fd, measuring;
static uint64_t next_number;
static uint64_t bytes_in, reconnects;

/* ---- requests ---- */

static char *read_file(const char *name) {
    FILE *f = fopen(name, "rb");
    if (!f) die(name);
    fseek(f, 0, SEEK_END);
    long n = ftell(f);
    rewind(f);
    char *text = malloc((size_t)n + 1);
    if (!text || fread(text, 1, (size_t)n, f) != (size_t)n) die(name);
    text[n] = 0;
    fclose(f);
    return text;
}

/* Copies `template` with room for a number in place of every %N; the numbers' offsets go to `slots`. */
static char *open_slots(const char *template, size_t *slots, int *slot_count) {
    char *out = malloc(strlen(template) * (DIGITS / 2) + 1), *to = out;
    if (!out) die("malloc");
    *slot_count = 0;
    while (*template) {
        if (template[0] == '%' && template[1] == 'N') {
            if (*slot_count == SLOTS_MAX) refuse("too many %N in the body");
            slots[(*slot_count)++] = (size_t)(to - out);
            memset(to, '0', DIGITS);
            to += DIGITS;
            template += 2;
        } else {
            *to++ = *template++;
        }
    }
    while (to > out && (to[-1] == '\n' || to[-1] == '\r')) to--;
    *to = 0;
    return out;
}

/* Appends each line of `lines` to the request head, ended as HTTP wants it. */
static void append_headers(char *head, const char *lines) {
    char *copy = strdup(lines);
    for (char *line = strtok(copy, "\r\n"); line; line = strtok(NULL, "\r\n")) {
        strcat(head, line);
        strcat(head, "\r\n");
    }
    free(copy);
}

static void build_request(Connection *c, const char *template, const char *headers, const char *own_header) {
    char *body = open_slots(template, c->slots, &c->slot_count);
    size_t room = strlen(body) + strlen(options.path) + 2 * (strlen(headers) + strlen(own_header)) + 512;
    c->request = malloc(room);
    c->buffer = malloc(BUFFER_BYTES);
    if (!c->request || !c->buffer) die("malloc");
    snprintf(c->request, room, "POST %s HTTP/1.1\r\nHost: %s:%d\r\nContent-Type: application/json\r\nContent-Length: %zu\r\n",
             options.path, options.host, options.port, strlen(body));
    append_headers(c->request, headers);
    append_headers(c->request, own_header);
    strcat(c->request, "\r\n");
    size_t head_bytes = strlen(c->request);
    strcat(c->request, body);
    c->request_bytes = head_bytes + strlen(body);
    for (int i = 0; i < c->slot_count; i++) c->slots[i] += head_bytes;
    free(body);
}

static void connect_now(Connection *c) {
    int one = 1;
    c->fd = socket(AF_INET, SOCK_STREAM, 0);
    if (c->fd < 0) die("socket");
    setsockopt(c->fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    if (connect(c->fd, (struct sockaddr *)&address, sizeof address) < 0) die("connect");
    fcntl(c->fd, F_SETFL, fcntl(c->fd, F_GETFL) | O_NONBLOCK);
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = c};
    if (epoll_ctl(epoll_fd, EPOLL_CTL_ADD, c->fd, &event) < 0) die("epoll_ctl");
}

static void watch_writable(Connection *c, int on) {
    struct epoll_event event = {.events = EPOLLIN | (on ? EPOLLOUT : 0), .data.ptr = c};
    if (epoll_ctl(epoll_fd, EPOLL_CTL_MOD, c->fd, &event) < 0) die("epoll_ctl");
}

static void send_rest(Connection *c) {
    while (c->sent < c->request_bytes) {
        ssize_t n = send(c->fd, c->request + c->sent, c->request_bytes - c->sent, MSG_NOSIGNAL);
        if (n < 0) {
            /* A server that has closed is noticed when its end is read. */
            if (errno == EPIPE || errno == ECONNRESET) return;
            if (errno != EAGAIN) die("send");
            watch_writable(c, 1);
            return;
        }
        c->sent += (size_t)n;
    }
}

static void start_request(Connection *c) {
    snprintf(c->number, sizeof c->number, "%010llu", (unsigned long long)(next_number++ % 10000000000ULL));
    for (int i = 0; i < c->slot_count; i++) memcpy(c->request + c->slots[i], c->number, DIGITS);
    c->sent = 0;
    c->received = 0;
    c->start_ns = now_ns();
    send_rest(c);
}

/* ---- responses ---- */

/* True once the whole chunked body is there; its framing stays in it, which the checks do not mind. */
static int chunks_complete(const char *body, const char *limit, size_t *body_bytes) {
    const char *p = body;
    for (;;) {
        const char *line_end = memmem(p, (size_t)(limit - p), "\r\n", 2);
        if (!line_end) return 0;
        size_t n = strtoul(p, NULL, 16);
        if (n > (size_t)(limit - line_end)) return 0;
        p = line_end + 2 + n + 2;
        if (p > limit) return 0;
        if (n == 0) {
            *body_bytes = (size_t)(p - body);
            return 1;
        }
    }
}

/* Fills `response` and returns true when the buffer holds a whole response. */
static int response_complete(const Connection *c, int closed, Response *response) {
    char *head_end = memmem(c->buffer, c->received, "\r\n\r\n", 4);
    if (!head_end) return 0;
    long content_length = -1;
    int chunked = 0;
    response->status = atoi(c->buffer + 9);
    response->keep_alive = 1;
    response->body = head_end + 4;
    for (char *line = strchr(c->buffer, '\n') + 1; line < head_end; line = strchr(line, '\n') + 1) {
        if (!strncasecmp(line, "content-length:", 15)) content_length = atol(line + 15);
        else if (!strncasecmp(line, "transfer-encoding:", 18)) chunked = 1;
        else if (!strncasecmp(line, "connection: close", 17)) response->keep_alive = 0;
    }
    size_t have = c->received - (size_t)(response->body - c->buffer);
    if (chunked) return chunks_complete(response->body, c->buffer + c->received, &response->body_bytes);
    if (content_length >= 0) {
        response->body_bytes = (size_t)content_length;
        return have >= (size_t)content_length;
    }
    response->body_bytes = have;
    response->keep_alive = 0;
    return closed;
}

static void check_response(const Connection *c, int complete, const Response *response) {
    const char *body = response->body;
    size_t n = response->body_bytes;
    if (!complete) count_error("connection closed before a response", c->buffer, c->received);
    else if (response->status != 200) count_error("status is not 200", c->buffer, c->received);
    else if (c->slot_count && !memmem(body, n, c->number, DIGITS)) count_error("number not echoed", body, n);
    else if (options.expect && !memmem(body, n, options.expect, strlen(options.expect))) count_error("expected text missing", body, n);
    else count_ok(now_ns() - c->start_ns);
}

/* Reads what has arrived; returns true when the server has closed the connection. */
static int receive(Connection *c) {
    for (;;) {
        ssize_t n = recv(c->fd, c->buffer + c->received, BUFFER_BYTES - 1 - c->received, 0);
        if (n == 0) return 1;
        if (n < 0) {
            if (errno == EAGAIN) return 0;
            if (errno == ECONNRESET) return 1;
            die("recv");
        }
        c->received += (size_t)n;
        if (measuring) bytes_in += (uint64_t)n;
        if (c->received >= BUFFER_BYTES - 1) refuse("a response is larger than the buffer");
    }
}

static void on_readable(Connection *c) {
    Response response = {0};
    int closed = receive(c);
    c->buffer[c->received] = 0;
    int complete = response_complete(c, closed, &response);
    if (!complete && !closed) return;
    if (measuring) check_response(c, complete, &response);
    if (closed || !response.keep_alive) {
        close(c->fd);
        reconnects++;
        connect_now(c);
    }
    start_request(c);
}

static void run_for(double seconds) {
    struct epoll_event events[EVENTS];
    uint64_t end = now_ns() + (uint64_t)(seconds * 1e9);
    while (now_ns() < end) {
        int n = epoll_wait(epoll_fd, events, EVENTS, 50);
        for (int i = 0; i < n; i++) {
            Connection *c = events[i].data.ptr;
            if (events[i].events & EPOLLOUT) {
                watch_writable(c, 0);
                send_rest(c);
            }
            if (events[i].events & (EPOLLIN | EPOLLHUP | EPOLLERR)) on_readable(c);
        }
    }
}

/* ---- the program ---- */

static void parse_options(int argc, char **argv) {
    for (int i = 1; i < argc; i += 2) {
        const char *name = argv[i], *value = i + 1 < argc ? argv[i + 1] : NULL;
        if (!value) refuse("an option lacks its value");
        if (!strcmp(name, "--host")) options.host = value;
        else if (!strcmp(name, "--port")) options.port = atoi(value);
        else if (!strcmp(name, "--path")) options.path = value;
        else if (!strcmp(name, "--conns")) options.conns = atoi(value);
        else if (!strcmp(name, "--duration")) options.duration_s = atof(value);
        else if (!strcmp(name, "--warmup")) options.warmup_s = atof(value);
        else if (!strcmp(name, "--body")) options.body_file = value;
        else if (!strcmp(name, "--headers")) options.headers_file = value;
        else if (!strcmp(name, "--conn-headers")) options.conn_headers_file = value;
        else if (!strcmp(name, "--expect")) options.expect = value;
        else if (!strcmp(name, "--first")) options.first = strtoull(value, NULL, 10);
        else refuse("unknown option");
    }
    if (!options.body_file) refuse("--body is required");
    address.sin_family = AF_INET;
    address.sin_port = htons((uint16_t)options.port);
    if (inet_pton(AF_INET, options.host, &address.sin_addr) != 1) refuse("--host must be an IPv4 address");
}

static Connection *open_connections(void) {
    char *template = read_file(options.body_file);
    char *headers = options.headers_file ? read_file(options.headers_file) : strdup("");
    char *rest = options.conn_headers_file ? read_file(options.conn_headers_file) : NULL;
    Connection *connections = calloc((size_t)options.conns, sizeof(Connection));
    for (int i = 0; i < options.conns; i++) {
        char *own_header = rest ? strsep(&rest, "\n") : "";
        if (options.conn_headers_file && (!own_header || !*own_header)) refuse("--conn-headers has fewer lines than --conns");
        build_request(&connections[i], template, headers, own_header);
        connect_now(&connections[i]);
    }
    free(template);
    free(headers);
    return connections;
}

static void print_result(double wall_s, double cpu_s) {
    printf("{\"conns\":%d,", options.conns);
    print_tally(wall_s);
    printf(",\"bytes_in\":%llu,\"reconnects\":%llu,\"client_cpu\":%.3f}\n", (unsigned long long)bytes_in,
           (unsigned long long)reconnects, cpu_s / wall_s);
}

int main(int argc, char **argv) {
    parse_options(argc, argv);
    epoll_fd = epoll_create1(0);
    if (epoll_fd < 0) die("epoll_create1");
    next_number = options.first;
    Connection *connections = open_connections();
    for (int i = 0; i < options.conns; i++) start_request(&connections[i]);
    run_for(options.warmup_s);
    measuring = 1;
    reconnects = 0;
    double cpu_before = cpu_seconds();
    uint64_t start = now_ns();
    run_for(options.duration_s);
    double wall_s = (double)(now_ns() - start) / 1e9;
    print_result(wall_s, cpu_seconds() - cpu_before);
    return ok_count ? 0 : 1;
}
