"""Which answer to label next, and how sure the number is: the methods that are compared.

`Sampler` draws by the spread that the proxy leaves, and its marks are unbiased whatever the proxy says: their errors are a martingale.
Four bounds read the same marks: `planned` (chosen), `flat`, `robbins`, and `bet`, which alone holds without the central limit theorem.
`fixed` holds for one look. `wilson` and `stratified` are the rivals.

A method sees an outcome only after it drew the item. Rows of the arrays are independent runs, so that numpy serves them together.
An item has one outcome (an accuracy, J = 1) or two (A - B, J = 2). All sums count items; the caller's widths are shares.
"""

from statistics import NormalDist

import numpy as np

from proxies import sigmoid

BATCH = 5  # labels between two recalibrations
LEAST = 15  # labels before an interval
TRUST = 30  # the variance that the model predicts weighs as much as so many labels
LEAST_P, DOUBT = 0.02, 2.0


def quantile(p):
    return NormalDist().inv_cdf(p)


class Plan:
    """`floor`: share of the draws that no proxy decides. `uniform`: random sampling; the expected value is one number."""

    def __init__(self, floor=0.1, prior=1.0, uniform=False, shared=False):
        self.floor, self.prior, self.uniform, self.shared = floor, prior, uniform, shared


def recalibrate(beta, center, precision, x, y, used):
    """Steps of a logistic regression whose coefficients are drawn to `center`; a curvature of 1/8 at least, so that steps cannot swing."""
    for _ in range(3):
        p = sigmoid(np.einsum("rtk,rk->rt", x, beta))
        slack = np.where(used, np.maximum(p * (1 - p), 0.125), 0)
        hessian = np.matmul((x * slack[..., None]).transpose(0, 2, 1), x) + np.diag(precision)
        gradient = np.einsum("rtk,rt->rk", x, np.where(used, y - p, 0)) - (beta - center) * precision
        beta = beta + np.linalg.solve(hessian, gradient[..., None])[..., 0]
    return beta


class Sampler:
    """The state of a labelling: `y`, `runs` are J × R × N, `x` is J × R × N × K, `free` items (R × N) count 0 with no label."""

    def __init__(self, y, x, runs, free, half, plan, rng, most):
        self.y, self.x, self.runs, self.plan, self.rng = y, x, runs, plan, rng
        self.count, self.rows, self.items = y.shape
        self.value = np.where(free, 0, y[0] - (y[1] if self.count == 2 else 0))
        self.rest = ~free
        self.h = half * self.items
        self.center = np.zeros(x.shape[-1])
        self.precision = np.full(x.shape[-1], float(plan.prior))
        if plan.uniform:
            self.precision[1:] = 1e9
        else:
            self.center[1] = 1
        self.beta = np.tile(self.center, (self.rows, 1))
        self.known = np.zeros(self.rows)
        left = self.rest.sum(1).astype(float)
        self.low, self.high = (-left if self.count == 2 else np.zeros(self.rows)), left
        self.sums = np.zeros((5, self.rows))  # w, w m, w², w² m, w² m² of the marks m
        self.model = np.zeros(self.rows)  # w² v
        self.marks, self.up, self.down = (np.zeros((self.rows, most)) for _ in range(3))
        self.seen_x = np.zeros((self.rows, self.count * most, x.shape[-1]))
        self.seen_y, self.used = np.zeros(self.seen_x.shape[:2]), np.zeros(self.seen_x.shape[:2], bool)
        self.labels, self.at, self.picks, self.open = 0, np.arange(self.rows), [], np.ones(self.rows, bool)

    def moments(self):
        """Expected value and variance of each item under the model; an answer that does not run is wrong."""
        edge = max(LEAST_P, DOUBT / (self.labels + 10))  # few labels cannot make sure
        p = np.stack([np.where(run, np.clip(sigmoid(np.einsum("rnk,rk->rn", x, self.beta)), edge, 1 - edge), 0) for x, run in zip(self.x, self.runs)])
        if self.count == 1:
            return p[0], p[0] * (1 - p[0])
        p = p / np.maximum(1, p.sum(0) / 0.98)  # two different results are not both right
        return p[0] - p[1], p[0] + p[1] - (p[0] - p[1]) ** 2

    def prepare(self):
        """Chances of a batch, the weight of its marks, and the largest bets that cannot lose more than three quarters."""
        rest, floor = self.rest, 1.0 if self.plan.uniform else self.plan.floor
        self.mean, spread = self.moments()
        sd = np.sqrt(spread) * rest
        if self.plan.shared:
            sd = np.tile(np.sqrt((spread * rest)[self.open].mean(0)), (self.rows, 1))
        left = np.maximum(rest.sum(1), 1)[:, None]
        self.chance = (1 - floor) * sd / np.maximum(sd.sum(1), 1e-9)[:, None] + floor * rest / left
        drop = np.where(rest, 1 / np.maximum(self.chance, 1e-12), 0)
        self.variance = np.maximum((spread * drop).sum(1) - (spread * rest).sum(1), 1e-3)
        self.expected = (self.mean * rest).sum(1)
        self.cumulative = self.chance.cumsum(1)
        self.total = self.cumulative[:, -1].copy()
        least = -1 if self.count == 2 else 0
        self.falls = (np.where(rest, self.mean - least, 0) * drop).max(1)
        self.rises = (np.where(rest, 1 - self.mean, 0) * drop).max(1)

    def pick(self):
        chosen, todo = np.zeros(self.rows, int), self.rest.any(1)
        while todo.any():
            u = self.rng.random(todo.sum()) * self.cumulative[todo, -1]
            chosen[todo] = np.minimum((self.cumulative[todo] <= u[:, None]).sum(1), self.items - 1)
            todo &= ~self.rest[self.at, chosen]  # drawn before in this batch: draw again
        return np.full(self.rows, chosen[0]) if self.plan.shared else chosen

    def label(self):
        """One label of each row: the mark is an unbiased guess of the total, whatever the model says."""
        at, live, chosen, now = self.at, self.rest.any(1), self.pick(), self.labels
        got, guess = self.value[at, chosen], self.mean[at, chosen]
        q = self.chance[at, chosen] / np.maximum(self.total, 1e-12)
        mark = self.known + self.expected + np.where(live, (got - guess) / np.maximum(q, 1e-12), 0)
        w = np.where(live, 1 / self.variance, 0)
        self.sums += np.stack([w, w * mark, w**2, w**2 * mark, w**2 * mark**2])
        self.model += w**2 * self.variance
        self.marks[:, now] = mark
        center = self.known + self.expected
        self.up[:, now] = np.where(live, np.minimum(self.h * w, 0.75 / np.maximum(self.high - center + self.falls, 1e-9)), 0)
        self.down[:, now] = np.where(live, np.minimum(self.h * w, 0.75 / np.maximum(center + self.rises - self.low, 1e-9)), 0)
        for side in range(self.count):
            slot = self.count * now + side
            self.seen_x[:, slot], self.seen_y[:, slot] = self.x[side][at, chosen], self.y[side][at, chosen]
            self.used[:, slot] = live & self.runs[side][at, chosen]
        self.known = self.known + np.where(live, got, 0)
        self.expected = self.expected - np.where(live, guess, 0)
        self.total = self.total - np.where(live, self.chance[at, chosen], 0)
        self.rest[at, chosen] &= ~live
        self.picks.append(chosen)
        self.labels += 1

    def estimate(self):
        """Weighted mean of the marks and its information: one over its variance, as seen and as predicted."""
        w, wm, ww, wwm, wwmm = self.sums
        mean = wm / w
        seen = np.maximum(wwmm - 2 * mean * wwm + mean**2 * ww, 0)
        variance = (TRUST * self.model + self.labels * seen) / (TRUST + self.labels)
        return mean, w**2 / np.maximum(variance, 1e-30)

    def close(self):
        left = self.rest.sum(1)
        self.low = np.maximum(self.low, self.known - (left if self.count == 2 else 0))
        self.high = np.minimum(self.high, self.known + left)
        used = slice(0, self.count * self.labels)
        self.beta = recalibrate(self.beta, self.center, self.precision, self.seen_x[:, used], self.seen_y[:, used], self.used[:, used])

    def betting(self, alpha):
        """Ends of the totals against which no capital has reached 2 / alpha (Waudby-Smith and Ramdas 2024)."""
        goal, ends = np.log(2 / alpha), []
        for bet, sign, near, far in ((self.up, 1, self.high, self.low), (self.down, -1, self.low, self.high)):
            def refuted(total):
                gain = sign * bet[:, : self.labels] * (self.marks[:, : self.labels] - total[:, None])
                return np.log1p(np.maximum(gain, -0.999)).sum(1) >= goal

            inside, outside, any_ = near.copy(), far.copy(), refuted(far)
            for _ in range(14):  # the capital grows with the distance from the marks
                middle = (inside + outside) / 2
                over = refuted(middle)
                outside, inside = np.where(over, middle, outside), np.where(over, inside, middle)
            ends.append(np.where(any_, outside, far))
        self.low, self.high = np.maximum(self.low, ends[0]), np.minimum(self.high, ends[1])
        return (self.low + self.high) / 2, (self.high - self.low) / 2


def simulate(y, x, runs, free, half, plan, rng, most, bounds, sign=False, alpha=0.05, truth=None):
    """Labels until each bound is `half` wide, or shows a sign; by bound: labels, estimate, half-width, and did it ever miss."""
    state = Sampler(y, x, runs, free, half, plan, rng, most)
    rows, items = state.rows, state.items
    truth = state.value.sum(1) if truth is None else truth
    ends = {bound: [np.full(rows, -1), np.zeros(rows), np.zeros(rows), np.zeros(rows, bool)] for bound in bounds}
    while state.labels < most and any((end[0] < 0).any() for end in ends.values()):
        state.prepare()
        for _ in range(min(BATCH, most - state.labels)):
            state.label()
        state.close()
        left = state.rest.sum(1)
        mean, information = state.estimate()
        for bound, (labels, at, width, missed) in ends.items():
            middle, wide = state.betting(alpha) if bound == "bet" else (mean, bounds[bound](information, state.h))
            wide = np.where((state.labels < LEAST) & (left > 0), np.inf, wide)
            middle, wide = np.where(left == 0, state.known, middle), np.where(left == 0, 0, wide)
            running = labels < 0
            done = running & ((np.abs(middle) > wide) | (np.abs(state.known) > left) | (left == 0) if sign else wide <= state.h * (1 + 1e-9))
            missed |= running & (np.abs(middle - truth) > wide + 1e-6)
            settled = np.where(sign & (np.abs(state.known) > left), state.known, middle)
            labels[done], at[done], width[done] = state.labels, settled[done] / items, wide[done] / items
            state.open = labels < 0
        if not state.open.any():
            state.open[:] = True
    for labels, at, width, _ in ends.values():
        late = labels < 0
        labels[late], at[late], width[late] = most, (state.sums[1] / state.sums[0])[late] / items, np.inf
    return ends, state


def fixed(alpha=0.05):
    """For one look alone."""
    z = quantile(1 - alpha / 2)
    return lambda information, h: z / np.sqrt(information)


def robbins(alpha=0.05, aim=3.03):
    """Robbins' normal mixture, narrowest where the half-width reaches h (Waudby-Smith and others 2021)."""

    def width(information, h):
        t = 8 * information / (aim / h) ** 2
        return np.sqrt((1 + t) / t * (np.log1p(t) + 2 * np.log(1 / alpha)) / information)

    return width


def flat(alpha=0.05):
    """A constant boundary up to the information that h needs (O'Brien and Fleming)."""
    c = quantile(1 - alpha / 4)
    return lambda information, h: np.where(information < (c / h) ** 2, np.maximum(c * (c / h) / np.maximum(information, 1e-30), h * 1.0001), h)


def planned(alpha=0.05, early=0.04):
    """The share 1 - early of alpha for the width h at the information that it needs, the rest for all looks before."""
    z, before = quantile(1 - alpha * (1 - early) / 2), robbins(alpha * early)
    return lambda information, h: np.where(information < (z / h) ** 2, np.maximum(before(information, h), h * 1.0001), h)


def wilson(y, half, rng, alpha=0.05):
    """Random sampling without replacement: the first number of labels at which Wilson's interval is narrow enough."""
    z, items = quantile(1 - alpha / 2), y.shape[1]
    n = np.arange(1, items)
    total = rng.permuted(y, axis=1).cumsum(1)[:, :-1]
    p, effective = total / n, n * (items - 1) / (items - n)
    width = z / (1 + z**2 / effective) * np.sqrt(p * (1 - p) / effective + z**2 / (4 * effective**2))
    middle = (p + z**2 / (2 * effective)) / (1 + z**2 / effective)
    first = ((width <= half) & (n >= 10)).argmax(1)
    at = np.arange(len(y))
    return first + 1, middle[at, first], width[at, first]


def stratified(y, f, free, half, rng, neyman, strata=5, alpha=0.05):
    """Stratified PPI++ with the correction for finite populations, of one look: the first n at which it is narrow enough."""
    z, results = quantile(1 - alpha / 2), []
    for outcomes, guess, known in zip(y, f, free):
        items, rest = len(outcomes), np.flatnonzero(~known)
        parts = np.array_split(rest[np.argsort(guess[rest] + 1e-9 * rng.random(len(rest)))], strata)
        shares = np.array([len(part) * (np.sqrt(np.mean(guess[part] * (1 - guess[part]))) + 0.05 if neyman else 1) for part in parts])
        grid = np.arange(30, len(rest) + 1, 5)
        mean, variance = np.zeros(len(grid)), np.zeros(len(grid))
        for part, share in zip(parts, shares / shares.sum()):
            part = rng.permutation(part)
            n = np.clip(np.round(grid * share).astype(int), 2, len(part))
            a, b = outcomes[part], guess[part]
            moment = [np.cumsum(v)[n - 1] / n for v in (a, b, a * a, b * b, a * b)]
            ma, mb = moment[0], moment[1]
            va, vb, cov = moment[2] - ma**2, moment[3] - mb**2, moment[4] - ma * mb
            rate = np.clip(cov / np.maximum(vb, 1e-9), 0, 1)
            mean += len(part) * (ma + rate * (b.mean() - mb))
            variance += len(part) ** 2 * np.maximum(va - 2 * rate * cov + rate**2 * vb, 0) / (n - 1) * (1 - n / len(part))
        width = z * np.sqrt(variance) / items
        first = (width <= half).argmax() if (width <= half).any() else len(grid) - 1
        results.append((grid[first], mean[first] / items, width[first]))
    return tuple(np.array(column) for column in zip(*results))
