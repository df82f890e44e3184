// Attention over the chunks of a packed batch, in one pass forward and one back, without holding the scores.
//
// A chunk is Q queries after each other, and the keys that any of them sees. Queries are taken 32 at a time, keys 64 at
// a time, and of each such block scores stand keys by queries: 16 queries are one vector. So what belongs to a query
// (its largest score, its sum, its gradient's mean) is a vector too, and nothing is ever added up across one.
//
// Products are in float32, or in bfloat16 where the CPU multiplies tiles of it (AMX); sums are in float32 throughout.
// Scores are powers of two: queries are scaled by log2(e).

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <thread>
#include <vector>

#if defined(__AMX_BF16__) && defined(__AVX512BF16__)
#include <immintrin.h>
#include <sys/syscall.h>
#include <unistd.h>
#define TILES 1
#else
#define TILES 0
#endif

namespace {

constexpr int LANES = 16, QUERIES = 32, KEYS = 64, HALVES = QUERIES / LANES;
constexpr float LOG2_E = 1.44269504088896f, NONE = -1e30f;

typedef float Floats __attribute__((vector_size(4 * LANES)));
typedef float Anywhere __attribute__((vector_size(4 * LANES), aligned(4)));
typedef int32_t Ints __attribute__((vector_size(4 * LANES)));
typedef float Block[QUERIES];  // an array of them is a matrix with a column for each query of a block

struct Problem {
    int64_t heads, width, chunks, size;  // size: Q, a multiple of 32
    const int64_t* starts;               // (chunks + 1) where each chunk's keys start
    const int32_t* keys;                 // which token each key is; a chunk has a multiple of 32
    const uint32_t* seen;                // for each chunk, each 32 queries, each key: which of them see it
    const float *q, *k, *v;              // (A, H, E) and (N, H, E), each with its own distance between tokens
    int64_t q_step, k_step, v_step;
    float *mixed, *sums;                 // (A, H, E), (A, H)
    const float *of_mixed, *offset;      // (A, H, E), (A, H)
    float *of_q, *of_k, *of_v;           // (A, H, E), (N, H, E), (N, H, E)
    int64_t bf16, threads;
};

Floats& lanes(float* place) { return *reinterpret_cast<Floats*>(place); }
const Floats& lanes(const float* place) { return *reinterpret_cast<const Floats*>(place); }

template <class Number> Number* aligned(Number* place) { return (Number*)(((uintptr_t)place + 63) / 64 * 64); }

Floats all(float value) { return value - Floats{}; }

Floats larger(Floats a, Floats b) { return a > b ? a : b; }

// 2^x for x up to 0, to the last bits of a float32.
Floats power(Floats x) {
    x = larger(x, all(-126.0f));
    const Floats magic = all(12582912.0f), shifted = x + magic;  // 1.5 * 2^23: its last bits are then x, rounded
    const Floats rest = x - (shifted - magic);
    Floats p = all(1.5403530e-4f);
    for (float c : {1.3333558e-3f, 9.6181291e-3f, 5.5504109e-2f, 2.4022651e-1f, 6.9314718e-1f, 1.0f}) p = p * rest + c;
    return (Floats)((Ints)p + ((Ints)shifted << 23));
}

// Something else where a query does not see a key.
Floats where_seen(Floats values, uint32_t seen, int half, float otherwise) {
    const Ints bit = {1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384, 32768};
    return ((Ints{} + int32_t(seen >> (half * LANES))) & bit) != 0 ? values : all(otherwise);
}

// The keys of a chunk for one head, and products with them in float32, eight keys at a time.
template <int E> struct Plain {
    std::vector<float> memory;
    float (*k)[E], (*v)[E];

    void read_keys(const Problem& a, int64_t head, const int32_t* keys, int64_t count) {
        memory.resize(2 * count * E + LANES);
        k = (float(*)[E])aligned(memory.data());
        v = k + count;
        for (int64_t key = 0; key < count; key++) {
            std::copy_n(a.k + keys[key] * a.k_step + head * E, E, k[key]);
            std::copy_n(a.v + keys[key] * a.v_step + head * E, E, v[key]);
        }
    }

    void read_queries(const Block*) {}
    void read_queries(const Block*, const Block*, const float (*)[E], const float (*)[E]) {}

    // (keys, queries) = rows (keys, E) times columns (E, queries).
    static void multiply(const float (*rows)[E], int count, const Block* columns, Block* out) {
        for (int key = 0; key < count; key += 8) {
            Floats sum[8][HALVES] = {};
            for (int e = 0; e < E; e++)
#pragma GCC unroll 8
                for (int i = 0; i < 8; i++)
#pragma GCC unroll 2
                    for (int half = 0; half < HALVES; half++)
                        sum[i][half] += rows[key + i][e] * lanes(&columns[e][half * LANES]);
            for (int i = 0; i < 8; i++)
                for (int half = 0; half < HALVES; half++) lanes(&out[key + i][half * LANES]) = sum[i][half];
        }
    }

    // (E, queries) += what the rows (keys, E) are, each times its weights (keys, queries).
    static void mix(const float (*rows)[E], int count, const Block* weights, Block* out) {
        for (int e = 0; e < E; e += 8) {
            Floats sum[8][HALVES];
            for (int i = 0; i < 8; i++)
                for (int half = 0; half < HALVES; half++) sum[i][half] = lanes(&out[e + i][half * LANES]);
            for (int key = 0; key < count; key++)
#pragma GCC unroll 8
                for (int i = 0; i < 8; i++)
#pragma GCC unroll 2
                    for (int half = 0; half < HALVES; half++)
                        sum[i][half] += rows[key][e + i] * lanes(&weights[key][half * LANES]);
            for (int i = 0; i < 8; i++)
                for (int half = 0; half < HALVES; half++) lanes(&out[e + i][half * LANES]) = sum[i][half];
        }
    }

    // (keys, E) += weights (keys, queries) times rows (queries, E).
    static void spread(int count, const Block* weights, const float (*rows)[E], float (*out)[E]) {
        for (int key = 0; key < count; key += 8) {
            Floats sum[8][E / LANES];
            for (int i = 0; i < 8; i++)
                for (int part = 0; part < E / LANES; part++) sum[i][part] = lanes(&out[key + i][part * LANES]);
            for (int query = 0; query < QUERIES; query++)
#pragma GCC unroll 8
                for (int i = 0; i < 8; i++)
#pragma GCC unroll 4
                    for (int part = 0; part < E / LANES; part++)
                        sum[i][part] += weights[key + i][query] * lanes(&rows[query][part * LANES]);
            for (int i = 0; i < 8; i++)
                for (int part = 0; part < E / LANES; part++) lanes(&out[key + i][part * LANES]) = sum[i][part];
        }
    }

    void scores(int64_t key, int count, const Block* asked, Block* out) { multiply(k + key, count, asked, out); }
    void of_weights(int64_t key, int count, const Block* outer, Block* out) { multiply(v + key, count, outer, out); }
    void mix_values(int64_t key, int count, const Block* weights, Block* out) { mix(v + key, count, weights, out); }
    void mix_keys(int64_t key, int count, const Block* weights, Block* out) { mix(k + key, count, weights, out); }
    void spread_outer(int count, const Block* weights, const float (*outer)[E], float (*out)[E]) {
        spread(count, weights, outer, out);
    }
    void spread_asked(int count, const Block* weights, const float (*asked)[E], float (*out)[E]) {
        spread(count, weights, asked, out);
    }
};

#if TILES

typedef uint16_t Half;  // a bfloat16

__m512i round_two(Floats low, Floats high) { return (__m512i)_mm512_cvtne2ps_pbh((__m512)high, (__m512)low); }

// Two rows of 16 numbers as pairs, as the second factor of a tile product has them.
void pair_up(const float* first, const float* second, Half* pairs) {
    alignas(64) static constexpr Half ORDER[32] = {0, 16, 1, 17, 2,  18, 3,  19, 4,  20, 5,  21, 6,  22, 7,  23,
                                                   8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31};
    const __m512i rounded = round_two(lanes(first), lanes(second));
    _mm512_store_si512(pairs, _mm512_permutexvar_epi16(_mm512_load_si512(ORDER), rounded));
}

// Which lanes of two vectors to take, to exchange blocks of 1, 2, 4 and 8 words, and to bring two rows together.
struct Orders {
    alignas(64) int32_t low[4][LANES], high[4][LANES];
    alignas(64) Half together[2][32];

    constexpr Orders() : low(), high(), together() {
        for (int stage = 0; stage < 4; stage++)
            for (int lane = 0, side = 1 << stage; lane < LANES; lane++) {
                low[stage][lane] = lane & side ? LANES + lane - side : lane;
                high[stage][lane] = lane & side ? LANES + lane : lane + side;
            }
        for (int part = 0; part < 2; part++)
            for (int i = 0; i < 32; i++) together[part][i] = Half(part * LANES + i / 2 + (i & 1) * 32);
    }
};
constexpr Orders ORDERS;

// 16 rows of 16 words, in place.
inline void transpose(__m512i* rows) {
#pragma GCC unroll 4
    for (int stage = 0; stage < 4; stage++) {
        const __m512i low = _mm512_load_si512(ORDERS.low[stage]), high = _mm512_load_si512(ORDERS.high[stage]);
#pragma GCC unroll 16
        for (int i = 0; i < LANES; i++) {
            if (i & 1 << stage) continue;
            const __m512i a = rows[i], b = rows[i + (1 << stage)];
            rows[i] = _mm512_permutex2var_epi32(a, low, b);
            rows[i + (1 << stage)] = _mm512_permutex2var_epi32(a, high, b);
        }
    }
}

// The same in bfloat16, tiles of 16 rows and 32 columns at a time.
template <int E> struct Tiles {
    static constexpr int PARTS = E / LANES, DEEP = E / 32;

    std::vector<Half> memory;
    Half *k, *v, *k_columns, *v_columns;  // (K, E) and (E, K)
    int64_t keys_in_all;
    alignas(64) Half asked[DEEP][HALVES][16][32], outer[DEEP][HALVES][16][32];  // pairs along E, by query
    alignas(64) Half asked_pairs[PARTS][16][32], outer_pairs[PARTS][16][32];    // pairs of queries, along E

    void read_keys(const Problem& a, int64_t head, const int32_t* keys, int64_t count) {
        keys_in_all = count;
        memory.resize(4 * count * E + 32);
        k = aligned(memory.data());
        v = k + count * E;
        k_columns = v + count * E;
        v_columns = k_columns + count * E;
        const bool back = a.of_mixed;
        copy(a.k + head * E, a.k_step, keys, count, k, back ? k_columns : nullptr);
        copy(a.v + head * E, a.v_step, keys, count, back ? v : nullptr, back ? nullptr : v_columns);
    }

    // Rows, or columns, or both.
    static void copy(const float* from, int64_t step, const int32_t* keys, int64_t count, Half* rows, Half* columns) {
        for (int64_t key = 0; key < count; key += 32)
            for (int e = 0; e < E; e += 32) {
                __m512i row[32];
#pragma GCC unroll 4
                for (int i = 0; i < 32; i++) {
                    const float* place = from + keys[key + i] * step + e;
                    row[i] = round_two(*(Anywhere*)place, *(Anywhere*)(place + LANES));
                    if (rows) _mm512_store_si512(rows + (key + i) * E + e, row[i]);
                }
                for (int part = 0; columns && part < 2; part++) {
                    __m512i words[LANES];  // of two keys each
                    const __m512i together = _mm512_load_si512(ORDERS.together[part]);
                    for (int i = 0; i < LANES; i++)
                        words[i] = _mm512_permutex2var_epi16(row[2 * i], together, row[2 * i + 1]);
                    transpose(words);
                    for (int i = 0; i < LANES; i++)
                        _mm512_store_si512(columns + (e + part * LANES + i) * count + key, words[i]);
                }
            }
    }

    static void pair_columns(const Block* columns, Half (*out)[HALVES][16][32]) {
        for (int e = 0; e < E; e += 2)
            for (int half = 0; half < HALVES; half++)
                pair_up(&columns[e][half * LANES], &columns[e + 1][half * LANES], out[e / 32][half][e % 32 / 2]);
    }

    void read_queries(const Block* some) { pair_columns(some, asked); }

    void read_queries(const Block* some, const Block* others, const float (*rows)[E], const float (*other_rows)[E]) {
        pair_columns(some, asked);
        pair_columns(others, outer);
        for (int query = 0; query < QUERIES; query += 2)
            for (int part = 0; part < PARTS; part++) {
                const int at = part * LANES;
                pair_up(rows[query] + at, rows[query + 1] + at, asked_pairs[part][query / 2]);
                pair_up(other_rows[query] + at, other_rows[query + 1] + at, outer_pairs[part][query / 2]);
            }
    }

    // Four sums, 16 by 16 each, two beside two, `down` numbers below: tiles 0 to 3.
    static void clear_sums() {
        _tile_zero(0);
        _tile_zero(1);
        _tile_zero(2);
        _tile_zero(3);
    }

    static void load_sums(const float* place, int64_t down, int64_t step) {
        _tile_loadd(0, place, step);
        _tile_loadd(1, place + LANES, step);
        _tile_loadd(2, place + down, step);
        _tile_loadd(3, place + down + LANES, step);
    }

    static void store_sums(float* place, int64_t down, int64_t step) {
        _tile_stored(0, place, step);
        _tile_stored(1, place + LANES, step);
        _tile_stored(2, place + down, step);
        _tile_stored(3, place + down + LANES, step);
    }

    // Two times 16 rows by two times 16 columns of pairs.
    static void add_products(const Half* rows, int64_t down, int64_t step, const Half (*left)[32],
                             const Half (*right)[32]) {
        _tile_loadd(4, rows, step);
        _tile_loadd(5, rows + down, step);
        _tile_loadd(6, left, 64);
        _tile_loadd(7, right, 64);
        _tile_dpbf16ps(0, 4, 6);
        _tile_dpbf16ps(1, 4, 7);
        _tile_dpbf16ps(2, 5, 6);
        _tile_dpbf16ps(3, 5, 7);
    }

    static void multiply(const Half* rows, int count, const Half (*columns)[HALVES][16][32], Block* out) {
        for (int key = 0; key < count; key += 32) {
            clear_sums();
            for (int deep = 0; deep < DEEP; deep++)
                add_products(rows + key * E + deep * 32, 16 * E, E * sizeof(Half), columns[deep][0], columns[deep][1]);
            store_sums(out[key], 16 * QUERIES, sizeof(Block));
        }
    }

    void mix(const Half* columns, int count, const Block* weights, Block* out) const {
        alignas(64) Half pairs[HALVES][KEYS / 2][32];
        for (int key = 0; key < count; key += 2)
            for (int half = 0; half < HALVES; half++)
                pair_up(&weights[key][half * LANES], &weights[key + 1][half * LANES], pairs[half][key / 2]);
        const int64_t step = keys_in_all * sizeof(Half);
        for (int e = 0; e < E; e += 32) {
            load_sums(out[e], 16 * QUERIES, sizeof(Block));
            for (int key = 0; key < count; key += 32)
                add_products(columns + e * keys_in_all + key, 16 * keys_in_all, step, pairs[0] + key / 2,
                             pairs[1] + key / 2);
            store_sums(out[e], 16 * QUERIES, sizeof(Block));
        }
    }

    static void spread(int count, const Block* weights, const Half (*pairs)[16][32], float (*out)[E]) {
        alignas(64) Half rounded[KEYS][32];
        for (int key = 0; key < count; key++)
            _mm512_store_si512(rounded[key], round_two(lanes(&weights[key][0]), lanes(&weights[key][LANES])));
        for (int key = 0; key < count; key += 32)
            for (int part = 0; part < PARTS; part += 2) {
                float* sums = &out[key][part * LANES];
                load_sums(sums, 16 * E, E * sizeof(float));
                add_products(rounded[key], 16 * 32, sizeof(rounded[0]), pairs[part], pairs[part + 1]);
                store_sums(sums, 16 * E, E * sizeof(float));
            }
    }

    void scores(int64_t key, int count, const Block*, Block* out) { multiply(k + key * E, count, asked, out); }
    void of_weights(int64_t key, int count, const Block*, Block* out) { multiply(v + key * E, count, outer, out); }
    void mix_values(int64_t key, int count, const Block* weights, Block* out) {
        mix(v_columns + key, count, weights, out);
    }
    void mix_keys(int64_t key, int count, const Block* weights, Block* out) {
        mix(k_columns + key, count, weights, out);
    }
    void spread_outer(int count, const Block* weights, const float (*)[E], float (*out)[E]) {
        spread(count, weights, outer_pairs, out);
    }
    void spread_asked(int count, const Block* weights, const float (*)[E], float (*out)[E]) {
        spread(count, weights, asked_pairs, out);
    }
};

// This thread's tiles as products here need them; then as they were, since others keep theirs set.
class Configured {
    struct alignas(64) Config {
        uint8_t palette, start, reserved[14];
        uint16_t columns[16];
        uint8_t rows[16];
    } before;

public:
    Configured() {
        _tile_storeconfig(&before);
        Config ours = {};
        ours.palette = 1;
        for (int tile = 0; tile < 8; tile++) ours.columns[tile] = 64, ours.rows[tile] = 16;
        _tile_loadconfig(&ours);
    }
    ~Configured() { _tile_loadconfig(&before); }
};

bool may_use_tiles() {  // the system hands them out on request
    constexpr int REQUEST = 0x1023, TILE_DATA = 18;
    static const bool granted = syscall(SYS_arch_prctl, REQUEST, TILE_DATA) == 0;
    return granted;
}

#endif

// Rows of 32 queries, (A, H, E), as columns (E, queries), scaled.
template <int E> void turn(const float* rows, int64_t step, float scale, Block* columns) {
    for (int query = 0; query < QUERIES; query++)
        for (int e = 0; e < E; e++) columns[e][query] = rows[query * step + e] * scale;
}

// Where a block of queries is, and who of them sees each key of their chunk.
struct Place {
    int64_t head, row;
    const uint32_t* seen;
    int64_t keys;

    bool sees_any(int64_t from, int count) const {
        uint32_t any = 0;
        for (int key = 0; key < count; key++) any |= seen[from + key];
        return any != 0;
    }
};

template <int E, class Products> void forward_block(const Problem& a, const Place& at, Products& products) {
    alignas(64) Block asked[E], mixed[E] = {}, scores[KEYS];
    Floats largest[HALVES] = {all(NONE), all(NONE)}, total[HALVES] = {};
    turn<E>(a.q + at.row * a.q_step + at.head * E, a.q_step, LOG2_E / std::sqrt(float(E)), asked);
    products.read_queries(asked);
    for (int64_t from = 0; from < at.keys; from += KEYS) {
        const int count = int(std::min<int64_t>(KEYS, at.keys - from));
        if (!at.sees_any(from, count)) continue;
        products.scores(from, count, asked, scores);
        for (int half = 0; half < HALVES; half++) {
            Floats top = largest[half];
            for (int key = 0; key < count; key++) {
                Floats& score = lanes(&scores[key][half * LANES]);
                score = where_seen(score, at.seen[from + key], half, NONE);
                top = larger(top, score);
            }
            const Floats shrink = power(largest[half] - top);
            Floats sum = total[half] * shrink;
            for (int key = 0; key < count; key++) {
                Floats& score = lanes(&scores[key][half * LANES]);
                score = where_seen(power(score - top), at.seen[from + key], half, 0.0f);
                sum += score;
            }
            for (int e = 0; e < E; e++) lanes(&mixed[e][half * LANES]) *= shrink;
            largest[half] = top;
            total[half] = sum;
        }
        products.mix_values(from, count, scores, mixed);
    }
    alignas(64) float totals[QUERIES], tops[QUERIES];
    for (int half = 0; half < HALVES; half++) {
        lanes(&totals[half * LANES]) = total[half];
        lanes(&tops[half * LANES]) = largest[half];
    }
    for (int query = 0; query < QUERIES; query++) {
        const int64_t place = (at.row + query) * a.heads + at.head;
        for (int e = 0; e < E; e++) a.mixed[place * E + e] = mixed[e][query] / totals[query];
        a.sums[place] = (std::log2(totals[query]) + tops[query]) / LOG2_E;
    }
}

// The gradients of keys and values are added to those of the chunk, (keys, E) each.
template <int E, class Products>
void backward_block(const Problem& a, const Place& at, Products& products, float (*of_k)[E], float (*of_v)[E]) {
    alignas(64) Block asked[E], outer[E], of_q[E] = {}, weights[KEYS], of_scores[KEYS];
    alignas(64) float asked_rows[QUERIES][E], outer_rows[QUERIES][E], sums[QUERIES], offset[QUERIES];
    const int64_t step = a.heads * E;
    const float scale = 1.0f / std::sqrt(float(E));
    turn<E>(a.q + at.row * a.q_step + at.head * E, a.q_step, LOG2_E * scale, asked);
    turn<E>(a.of_mixed + at.row * step + at.head * E, step, 1.0f, outer);
    for (int query = 0; query < QUERIES; query++) {
        const int64_t place = (at.row + query) * a.heads + at.head;
        for (int e = 0; e < E; e++) {
            asked_rows[query][e] = a.q[(at.row + query) * a.q_step + at.head * E + e] * scale;
            outer_rows[query][e] = a.of_mixed[place * E + e];
        }
        sums[query] = a.sums[place] * LOG2_E;
        offset[query] = a.offset[place];
    }
    products.read_queries(asked, outer, asked_rows, outer_rows);
    for (int64_t from = 0; from < at.keys; from += KEYS) {
        const int count = int(std::min<int64_t>(KEYS, at.keys - from));
        if (!at.sees_any(from, count)) continue;
        products.scores(from, count, asked, weights);
        products.of_weights(from, count, outer, of_scores);
        for (int key = 0; key < count; key++)
            for (int half = 0; half < HALVES; half++) {
                Floats& weight = lanes(&weights[key][half * LANES]);
                Floats& of_score = lanes(&of_scores[key][half * LANES]);
                weight = where_seen(power(weight - lanes(&sums[half * LANES])), at.seen[from + key], half, 0.0f);
                of_score = weight * (of_score - lanes(&offset[half * LANES]));
            }
        products.spread_outer(count, weights, outer_rows, of_v + from);
        products.spread_asked(count, of_scores, asked_rows, of_k + from);
        products.mix_keys(from, count, of_scores, of_q);
    }
    for (int query = 0; query < QUERIES; query++) {
        float* out = a.of_q + (at.row + query) * step + at.head * E;
        for (int e = 0; e < E; e++) out[e] = of_q[e][query] * scale;
    }
}

// One head: every 32 queries of every chunk.
template <int E, class Products> void compute(const Problem& a, int64_t head, Products& products) {
    std::vector<float> memory;
    for (int64_t chunk = 0; chunk < a.chunks; chunk++) {
        const int64_t start = a.starts[chunk], count = a.starts[chunk + 1] - start;
        const int32_t* keys = a.keys + start;
        products.read_keys(a, head, keys, count);
        memory.assign(a.of_mixed ? 2 * count * E + LANES : LANES, 0.0f);
        auto of_k = (float(*)[E])aligned(memory.data()), of_v = of_k + count;
        for (int64_t query = 0; query < a.size; query += QUERIES) {
            const Place at = {head, chunk * a.size + query, a.seen + (start * a.size + query * count) / QUERIES, count};
            if (a.of_mixed)
                backward_block<E>(a, at, products, of_k, of_v);
            else
                forward_block<E>(a, at, products);
        }
        if (a.of_mixed)
            for (int64_t key = 0; key < count; key++)
                for (int e = 0; e < E; e++) {
                    const int64_t place = (keys[key] * a.heads + head) * E + e;
                    a.of_k[place] += of_k[key][e];
                    a.of_v[place] += of_v[key][e];
                }
    }
}

// Every so many-th head, from the first one on; no two heads write to the same place.
template <int E> void compute(const Problem& a, int64_t first) {
#if TILES
    if (a.bf16 && may_use_tiles()) {
        const Configured tiles;
        static thread_local Tiles<E> products;
        for (int64_t head = first; head < a.heads; head += a.threads) compute<E>(a, head, products);
        return;
    }
#endif
    Plain<E> products;
    for (int64_t head = first; head < a.heads; head += a.threads) compute<E>(a, head, products);
}

template <int E> void share(const Problem& a) {
    std::vector<std::thread> others;
    for (int64_t first = 1; first < std::min(a.threads, a.heads); first++)
        others.emplace_back([&a, first] { compute<E>(a, first); });
    compute<E>(a, 0);
    for (std::thread& other : others) other.join();
}

}  // namespace

extern "C" {

// Whether products can be in bfloat16.
int has_tiles() {
#if TILES
    return may_use_tiles();
#else
    return 0;
#endif
}

// Which queries see which keys: those that were live when a query was written, in the frames that it sees.
void find_seen(int64_t chunks, int64_t size, const int64_t* starts, const int32_t* keys, const int32_t* queries,
               const int32_t* times, const int32_t* ends, const int32_t* positions, const int32_t* outer,
               const int32_t* start, uint32_t* seen) {
    for (int64_t row = 0; row < chunks * size; row += QUERIES) {
        const int64_t chunk = row / size;
        int32_t now[QUERIES], until[QUERIES], since[QUERIES];
        for (int i = 0; i < QUERIES; i++) {
            const int32_t query = queries[row + i];
            now[i] = times[query], until[i] = outer[query], since[i] = start[query];
        }
        for (int64_t at = starts[chunk]; at < starts[chunk + 1]; at++) {
            uint32_t bits = 0;
            const int32_t key = std::max(keys[at], 0);
            const int32_t born = times[key], end = keys[at] < 0 ? -1 : ends[key], position = positions[key];
            for (int i = 0; i < QUERIES; i++)
                bits |= uint32_t((born <= now[i]) & (now[i] < end) & ((position < until[i]) | (position >= since[i])))
                        << i;
            *seen++ = bits;
        }
    }
}

// Forward, or backward if there is a gradient of what is mixed; heads are 32 or 64 wide.
void attend(const Problem* problem) { problem->width == 32 ? share<32>(*problem) : share<64>(*problem); }
}
