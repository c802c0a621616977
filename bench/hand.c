/* Accelerations written by hand: the limit that compiled code can reach. Also calls what CasADi generated.
 *
 *   hand pendulum-dense | pendulum-linear | chain  INPUT
 *   hand casadi  INPUT LIBRARY
 *
 * INPUT holds raw doubles: N masses, N lengths, then q and qdot. N is fixed when this file is compiled.
 * Prints the median CPU time of one call, and the acceleration, as JSON. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const double g = 9.81;
static double m[N], l[N], im[N], il[N], mu[N], x[4 * N], a[2 * N];

/* N-link pendulum, mass matrix and Cholesky: M_ij = mu_i l_i l_j cos(q_i - q_j) for j <= i */
__attribute__((noinline)) static void pendulum_dense(void) {
    static double M[N][N], c[N], s[N];
    const double *v = x + N;
    for (int i = 0; i < N; ++i) sincos(x[i], &s[i], &c[i]);
    for (int i = 0; i < N; ++i) a[i] = -mu[i] * g * l[i] * s[i];
    for (int i = 0; i < N; ++i) {
        double ai = 0;
        for (int j = 0; j <= i; ++j) {
            double k = mu[i] * l[i] * l[j], sd = k * (s[i] * c[j] - c[i] * s[j]);
            M[i][j] = k * (c[i] * c[j] + s[i] * s[j]);
            ai -= sd * v[j] * v[j];
            a[j] += sd * v[i] * v[i];
        }
        a[i] += ai;
    }
    for (int j = 0; j < N; ++j)
        for (int i = j; i < N; ++i) {
            double t = M[i][j];
            for (int k = 0; k < j; ++k) t -= M[i][k] * M[j][k];
            M[i][j] = i == j ? 1 / sqrt(t) : t * M[j][j];
        }
    for (int i = 0; i < N; ++i) {
        double t = a[i];
        for (int k = 0; k < i; ++k) t -= M[i][k] * a[k];
        a[i] = t * M[i][i];
    }
    for (int i = N - 1; i >= 0; --i) {
        double t = a[i];
        for (int k = i + 1; k < N; ++k) t -= M[k][i] * a[k];
        a[i] = t * M[i][i];
    }
}

/* N-link pendulum, O(N): the tensions of the rods solve a tridiagonal system */
__attribute__((noinline)) static void pendulum_linear(void) {
    static double c[N], s[N], e[N], d[N], r[N];
    const double *v = x + N;
    for (int i = 0; i < N; ++i) sincos(x[i], &s[i], &c[i]);
    for (int i = 0; i < N; ++i) {
        d[i] = im[i] + (i ? im[i - 1] : 0);
        r[i] = l[i] * v[i] * v[i] + (i ? 0 : g * c[0]);
        e[i] = i ? -im[i - 1] * (c[i] * c[i - 1] + s[i] * s[i - 1]) : 0;
    }
    for (int i = 1; i < N; ++i) {
        double f = e[i] / d[i - 1];
        d[i] -= f * e[i];
        r[i] -= f * r[i - 1];
    }
    r[N - 1] /= d[N - 1];
    for (int i = N - 2; i >= 0; --i) r[i] = (r[i] - e[i + 1] * r[i + 1]) / d[i];
    for (int i = 0; i < N; ++i) {
        double t = i ? im[i - 1] * r[i - 1] * (s[i - 1] * c[i] - c[i - 1] * s[i]) : -g * s[0];
        if (i + 1 < N) t += im[i] * r[i + 1] * (s[i + 1] * c[i] - c[i + 1] * s[i]);
        a[i] = t * il[i];
    }
}

/* N masses on rods, q = (x_1, y_1, x_2, ...): A M^-1 A' is tridiagonal; eliminated from both ends at once, so
 * that two chains of divisions run side by side, which meet at k */
__attribute__((noinline)) static void chain(void) {
    static double dx[N + 1], dy[N + 1], d[N], e[N], r[N + 1], id[N];
    const double *v = x + 2 * N;
    dx[0] = x[0], dy[0] = x[1];
    for (int i = 1; i < N; ++i) dx[i] = x[2 * i] - x[2 * i - 2], dy[i] = x[2 * i + 1] - x[2 * i - 1];
    r[0] = -(v[0] * v[0] + v[1] * v[1]) + g * dy[0];
    d[0] = im[0] * (dx[0] * dx[0] + dy[0] * dy[0]);
    for (int i = 1; i < N; ++i) {
        double du = v[2 * i] - v[2 * i - 2], dv = v[2 * i + 1] - v[2 * i - 1];
        r[i] = -(du * du + dv * dv);
        d[i] = (im[i] + im[i - 1]) * (dx[i] * dx[i] + dy[i] * dy[i]);
        e[i] = -im[i - 1] * (dx[i] * dx[i - 1] + dy[i] * dy[i - 1]);
    }
    r[N] = dx[N] = dy[N] = 0;
    const int k = N / 2;
    id[0] = 1 / d[0];
    id[N - 1] = 1 / d[N - 1];
    for (int i = 1, j = N - 2; i < k || j > k; ++i, --j) {
        if (i < k) {
            double f = e[i] * id[i - 1];
            id[i] = 1 / (d[i] - f * e[i]);
            r[i] -= f * r[i - 1];
        }
        if (j > k) {
            double f = e[j + 1] * id[j + 1];
            id[j] = 1 / (d[j] - f * e[j + 1]);
            r[j] -= f * r[j + 1];
        }
    }
    if (k > 0) d[k] -= e[k] * id[k - 1] * e[k], r[k] -= e[k] * id[k - 1] * r[k - 1];
    if (k < N - 1) d[k] -= e[k + 1] * id[k + 1] * e[k + 1], r[k] -= e[k + 1] * id[k + 1] * r[k + 1];
    r[k] /= d[k];
    for (int i = k - 1, j = k + 1; i >= 0 || j < N; --i, ++j) {
        if (i >= 0) r[i] = (r[i] - e[i + 1] * r[i + 1]) * id[i];
        if (j < N) r[j] = (r[j] - e[j] * r[j - 1]) * id[j];
    }
    for (int i = 0; i < N; ++i) {
        a[2 * i] = im[i] * (dx[i] * r[i] - dx[i + 1] * r[i + 1]);
        a[2 * i + 1] = im[i] * (dy[i] * r[i] - dy[i + 1] * r[i + 1]) - g;
    }
}

static int (*generated)(const double **, double **, long long *, double *, int);
static const double **arg;
static double **res, *w;
static long long *iw;
static void casadi(void) {
    arg[0] = x;
    res[0] = a;
    generated(arg, res, iw, w, 0);
}
static void load(const char *library) {
    void *handle = dlopen(library, RTLD_NOW);
    if (!handle) fprintf(stderr, "%s\n", dlerror()), exit(1);
    long long arguments, results, integers, doubles;
    int (*work)(long long *, long long *, long long *, long long *) = dlsym(handle, "acceleration_work");
    generated = dlsym(handle, "acceleration");
    work(&arguments, &results, &integers, &doubles);
    arg = calloc(arguments + 1, sizeof *arg), res = calloc(results + 1, sizeof *res);
    iw = calloc(integers + 1, sizeof *iw), w = calloc(doubles + 1, sizeof *w);
}

static double cpu(void) {
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return t.tv_sec + 1e-9 * t.tv_nsec;
}
static int ascending(const void *p, const void *q) {
    double s = *(const double *)p, t = *(const double *)q;
    return (s > t) - (s < t);
}
/* median over samples of about 20 ms */
static double seconds_per_call(void (*call)(void)) {
    enum { SAMPLES = 9 };
    double t[SAMPLES];
    long calls = 1;
    for (double spent = 0; spent < 0.02; calls *= spent > 1e-3 ? (long)(0.025 / spent) + 1 : 10) {
        spent = cpu();
        for (long k = 0; k < calls; ++k) call();
        spent = cpu() - spent;
    }
    for (int s = 0; s < SAMPLES; ++s) {
        t[s] = cpu();
        for (long k = 0; k < calls; ++k) call();
        t[s] = (cpu() - t[s]) / calls;
    }
    qsort(t, SAMPLES, sizeof *t, ascending);
    return t[SAMPLES / 2];
}

int main(int count, char **word) {
    FILE *f = fopen(word[2], "rb");
    if (count < 3 || !f || fread(m, 8, N, f) + fread(l, 8, N, f) != 2 * N) return 1;
    size_t coordinates = fread(x, 8, 4 * N, f) / 2;
    for (int i = N - 1; i >= 0; --i) im[i] = 1 / m[i], il[i] = 1 / l[i], mu[i] = m[i] + (i + 1 < N ? mu[i + 1] : 0);
    void (*call)(void) = !strcmp(word[1], "pendulum-dense") ? pendulum_dense
                       : !strcmp(word[1], "pendulum-linear") ? pendulum_linear
                       : !strcmp(word[1], "chain") ? chain : casadi;
    if (call == casadi) load(word[3]);
    printf("{\"seconds\": %.6g, \"qddot\": [", seconds_per_call(call));
    for (size_t i = 0; i < coordinates; ++i) printf("%s%.17g", i ? ", " : "", a[i]);
    printf("]}\n");
}
