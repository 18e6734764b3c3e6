/*
 * tally.h: what a load generator counts, and the JSON members it prints.
 *
 * Latencies go to a log-linear histogram whose buckets are less than 0.8 % wide.
 * It knows nothing of sockets or requests.
 */
#ifndef TALLY_H
#define TALLY_H
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>

enum {
    SUB_BITS = 7, /* 128 buckets for each power of two */
    SUB = 1 << SUB_BITS,
    BUCKETS = 64 * SUB,
};

static uint64_t histogram[BUCKETS];
static uint64_t ok_count, error_count, sum_ns, max_ns, min_ns = UINT64_MAX;
static char first_error[512];

static void die(const char *what) {
    perror(what);
    exit(2);
}

static void refuse(const char *why) {
    fprintf(stderr, "loadgen: %s\n", why);
    exit(2);
}

static uint64_t now_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000ULL + (uint64_t)t.tv_nsec;
}

static double cpu_seconds(void) {
    struct rusage r;
    getrusage(RUSAGE_SELF, &r);
    return (double)(r.ru_utime.tv_sec + r.ru_stime.tv_sec) + (double)(r.ru_utime.tv_usec + r.ru_stime.tv_usec) / 1e6;
}

static int bucket_of(uint64_t v) {
    if (v < SUB) return (int)v;
    int shift = 63 - __builtin_clzll(v) - SUB_BITS;
    return (shift + 1) * SUB + (int)((v >> shift) - SUB);
}

static double bucket_middle(int b) {
    if (b < SUB) return b;
    int shift = b / SUB - 1;
    uint64_t low = ((uint64_t)(b % SUB) + SUB) << shift;
    return (double)low + (double)(1ULL << shift) / 2.0;
}

static double percentile_ms(double percent) {
    uint64_t wanted = (uint64_t)(percent / 100.0 * (double)ok_count + 0.5), seen = 0;
    if (wanted == 0) wanted = 1;
    for (int b = 0; b < BUCKETS; b++) {
        seen += histogram[b];
        if (seen >= wanted) return bucket_middle(b) / 1e6;
    }
    return (double)max_ns / 1e6;
}

static void count_ok(uint64_t latency_ns) {
    histogram[bucket_of(latency_ns)]++;
    ok_count++;
    sum_ns += latency_ns;
    if (latency_ns > max_ns) max_ns = latency_ns;
    if (latency_ns < min_ns) min_ns = latency_ns;
}

/* Only the first error's text is kept: it is what a person needs to find the cause. */
static void count_error(const char *why, const char *text, size_t n) {
    error_count++;
    if (!first_error[0]) snprintf(first_error, sizeof first_error, "%s: %.*s", why, (int)(n > 300 ? 300 : n), text);
}

static void print_quoted(const char *text) {
    putchar('"');
    for (; *text; text++) {
        if (*text == '"' || *text == '\\') printf("\\%c", *text);
        else if ((unsigned char)*text < 32 || (unsigned char)*text > 126) printf("\\u%04x", (unsigned char)*text);
        else putchar(*text);
    }
    putchar('"');
}

/* Prints the counters without the braces around them. */
static void print_tally(double wall_s) {
    double n = ok_count ? (double)ok_count : 1;
    printf("\"ok\":%llu,\"errors\":%llu,\"seconds\":%.3f,\"rps\":%.1f,\"mean_ms\":%.4f,\"min_ms\":%.4f,"
           "\"p50_ms\":%.4f,\"p90_ms\":%.4f,\"p99_ms\":%.4f,\"max_ms\":%.4f",
           (unsigned long long)ok_count, (unsigned long long)error_count, wall_s, (double)ok_count / wall_s,
           (double)sum_ns / 1e6 / n, ok_count ? (double)min_ns / 1e6 : 0.0, percentile_ms(50), percentile_ms(90),
           percentile_ms(99), (double)max_ns / 1e6);
    if (first_error[0]) {
        printf(",\"first_error\":");
        print_quoted(first_error);
    }
}

#endif
