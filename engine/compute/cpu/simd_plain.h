#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "engine/tensor/format.h"

namespace firsttoken::engine {

/// Eight f32 lanes in plain C++; the shape that kernels_generic.h is written against.
struct PlainSimd {
    struct Vector {
        float lanes[8];
    };

    static Vector zero() { return set1(0.0F); }
    static Vector set1(float value) {
        Vector v;
        for (float& lane : v.lanes) lane = value;
        return v;
    }
    static Vector load(const float* at) {
        Vector v;
        std::memcpy(v.lanes, at, sizeof v.lanes);
        return v;
    }
    static void store(float* at, const Vector& v) { std::memcpy(at, v.lanes, sizeof v.lanes); }
    /// Lanes from `count` on are zero, respectively not written.
    static Vector loadPart(const float* at, std::size_t count) {
        Vector v = zero();
        for (std::size_t i = 0; i < count; ++i) v.lanes[i] = at[i];
        return v;
    }
    static void storePart(float* at, const Vector& v, std::size_t count) {
        for (std::size_t i = 0; i < count; ++i) at[i] = v.lanes[i];
    }
    static Vector add(const Vector& a, const Vector& b) {
        return map(a, b, [](float x, float y) { return x + y; });
    }
    static Vector sub(const Vector& a, const Vector& b) {
        return map(a, b, [](float x, float y) { return x - y; });
    }
    static Vector mul(const Vector& a, const Vector& b) {
        return map(a, b, [](float x, float y) { return x * y; });
    }
    static Vector div(const Vector& a, const Vector& b) {
        return map(a, b, [](float x, float y) { return x / y; });
    }
    static Vector max(const Vector& a, const Vector& b) {
        return map(a, b, [](float x, float y) { return x > y ? x : y; });
    }
    static Vector min(const Vector& a, const Vector& b) {
        return map(a, b, [](float x, float y) { return x < y ? x : y; });
    }
    static Vector abs(const Vector& a) {
        return map(a, a, [](float x, float) { return std::fabs(x); });
    }
    /// a * b + c
    static Vector fma(const Vector& a, const Vector& b, const Vector& c) { return add(mul(a, b), c); }
    static Vector roundToEven(const Vector& a) {
        return map(a, a, [](float x, float) { return std::nearbyint(x); });
    }
    /// 2^n for whole n in -126 … 127.
    static Vector powerOfTwo(const Vector& n) {
        return map(n, n, [](float x, float) {
            if (!(x >= -126.0F && x <= 127.0F)) return x;  // NaN stays NaN
            const std::uint32_t bits = static_cast<std::uint32_t>(static_cast<std::int32_t>(x) + 127) << 23;
            float value;
            std::memcpy(&value, &bits, sizeof value);
            return value;
        });
    }
    /// ((l0 + l4) + (l2 + l6)) + ((l1 + l5) + (l3 + l7))
    static float sum(const Vector& v) {
        const float* l = v.lanes;
        return ((l[0] + l[4]) + (l[2] + l[6])) + ((l[1] + l[5]) + (l[3] + l[7]));
    }
    static float maximum(const Vector& v) {
        float most = v.lanes[0];
        for (const float lane : v.lanes) most = lane > most ? lane : most;
        return most;
    }
    static Vector loadHalves(const std::uint16_t* at) {
        Vector v;
        for (std::size_t i = 0; i < 8; ++i) v.lanes[i] = halfToFloat(at[i]);
        return v;
    }
    static void storeHalves(std::uint16_t* at, const Vector& v) {
        for (std::size_t i = 0; i < 8; ++i) at[i] = floatToHalf(v.lanes[i]);
    }
    /// Whole values in -127 … 127 to bytes.
    static void storeBytes(std::int8_t* at, const Vector& v) {
        for (std::size_t i = 0; i < 8; ++i) at[i] = static_cast<std::int8_t>(v.lanes[i]);
    }

private:
    template <class Function>
    static Vector map(const Vector& a, const Vector& b, Function function) {
        Vector v;
        for (std::size_t i = 0; i < 8; ++i) v.lanes[i] = function(a.lanes[i], b.lanes[i]);
        return v;
    }
};

}  // namespace firsttoken::engine
