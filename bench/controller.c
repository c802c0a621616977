// The exported controller of models/two_link_arm.zw beside the same one written by hand. bench/controller builds and runs it.

#include <math.h>
#include <stdio.h>
#include <time.h>

int two_link_arm_control(double t, const double q[2], const double v[2], const double p[9], double u[2]);

// Computed torque: J q'' = what the tip is to do, u = M q'' + h.
__attribute__((noinline)) static int by_hand(double t, const double q[2], const double v[2], const double p[9], double u[2])
{
    const double l1 = p[0], l2 = p[1], m1 = p[2], m2 = p[3], g = p[4], R = p[5], cx = p[6], cy = p[7], w = p[8];
    const double s1 = sin(q[0]), c1 = cos(q[0]), s12 = sin(q[0] + q[1]), c12 = cos(q[0] + q[1]);
    const double st = sin(w*t), ct = cos(w*t);
    const double w1 = v[0], w12 = v[0] + v[1];
    const double x = l1*c1 + l2*c12, y = l1*s1 + l2*s12;
    const double vx = -l1*s1*w1 - l2*s12*w12, vy = l1*c1*w1 + l2*c12*w12;
    const double ex = x - cx - R*ct, ey = y - cy - R*st;
    const double dx = vx + R*w*st, dy = vy - R*w*ct;
    // settling 0.2 s: 2/τ = 10, 1/τ² = 25
    const double ax = -R*w*w*ct - 10*dx - 25*ex + l1*c1*w1*w1 + l2*c12*w12*w12;
    const double ay = -R*w*w*st - 10*dy - 25*ey + l1*s1*w1*w1 + l2*s12*w12*w12;
    const double j11 = -y, j12 = -l2*s12, j21 = x, j22 = l2*c12;
    const double det = j11*j22 - j12*j21;
    if (!(fabs(det) > 1e-12)) return 0;
    const double a1 = (j22*ax - j12*ay)/det, a2 = (j11*ay - j21*ax)/det;
    const double c2 = c12*c1 + s12*s1, s2 = s12*c1 - c12*s1;
    const double m12 = m2*l2*(l2 + l1*c2), m22 = m2*l2*l2, m11 = (m1 + m2)*l1*l1 + m2*l2*(l2 + 2*l1*c2);
    const double h = m2*l1*l2*s2;
    u[0] = m11*a1 + m12*a2 - h*v[1]*(2*v[0] + v[1]) + (m1 + m2)*g*l1*c1 + m2*g*l2*c12;
    u[1] = m12*a1 + m22*a2 + h*v[0]*v[0] + m2*g*l2*c12;
    return 1;
}

typedef int Controller(double, const double[2], const double[2], const double[9], double[2]);

static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return now.tv_sec + 1e-9*now.tv_nsec;
}

// Nanoseconds per call over many states; adds up the torques.
static double time_of(Controller *controller, double *sum)
{
    const double p[9] = {0.5, 0.4, 2.0, 1.5, 9.81, 0.15, 0.5, 0.2, 1.0}, start = seconds();
    const int n = 2000000;
    double u[2];
    *sum = 0;
    for (int i = 0; i < n; i++) {
        const double q[2] = {-0.3 + 2e-4*(i%1000), 1.2 + 1e-4*(i%777)}, v[2] = {0.1, -0.2};
        controller(1e-5*i, q, v, p, u);
        *sum += u[0] + u[1];
    }
    return (seconds() - start)/n*1e9;
}

int main(void)
{
    double hand = 1e9, exported = 1e9, a = 0, b = 0;
    for (int k = 0; k < 9; k++) {
        hand = fmin(hand, time_of(by_hand, &a));
        exported = fmin(exported, time_of(two_link_arm_control, &b));
    }
    printf("by hand %.1f ns, exported %.1f ns, ratio %.2f, sums differ by %.1e\n", hand, exported, exported/hand, fabs(a - b)/fabs(a));
    return fabs(a - b) > 1e-9*fabs(a) || exported > 1.5*hand;
}
