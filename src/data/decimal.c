/* decimal.c - m * 10^q rounded once, for numbers of up to 19 digits.
 *
 *   (1) m 10^q = m 5^q 2^q; with m shifted up to 2^63 <= m' < 2^64 and T_q the leading 128 bits of 5^q,
 *       the leading 64 bits of m' T_q hold 53 bits, a rounding bit and a few more;
 *   (2) the product with the upper half of T_q is enough unless those extra bits are all ones, when a
 *       carry from the lower half may change them;
 *   (3) ties can only be exact for -4 <= q <= 23, where 5^q or m 5^q fits into 64 bits: round to even.
 *
 * T_q for q >= 0 is 5^q shifted and cut; for q < 0 it is 2^b / 5^-q cut and raised by one in the last
 * place.  tests/unit/data/test_decimal.c compares with the C library on random numbers and on ties.
 * Reference  Lemire, Number parsing at a gigabyte per second, Softw. Pract. Exp. 51 (2021);
 *            Mushtak, Lemire, Fast number parsing without fallback, Softw. Pract. Exp. 53 (2023). */
#include "decimal.h"

enum { Q_LO = -65, Q_HI = 65 };

const uint64_t pvi_ten_u64[20] = { 1u,
                                   10u,
                                   100u,
                                   1000u,
                                   10000u,
                                   100000u,
                                   1000000u,
                                   10000000u,
                                   100000000u,
                                   1000000000u,
                                   10000000000u,
                                   100000000000u,
                                   1000000000000u,
                                   10000000000000u,
                                   100000000000000u,
                                   1000000000000000u,
                                   10000000000000000u,
                                   100000000000000000u,
                                   1000000000000000000u,
                                   10000000000000000000u };
const double pvi_ten_f64[23] = { 1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22 };
const double pvi_signed_ten[2][16] = {
    { 1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15 },
    { -1e0, -1e1, -1e2, -1e3, -1e4, -1e5, -1e6, -1e7, -1e8, -1e9, -1e10, -1e11, -1e12, -1e13, -1e14, -1e15 }
};
/* 5^q, upper and lower half, q = Q_LO .. Q_HI */
static const uint64_t five[Q_HI - Q_LO + 1][2] = {
    { 0x86ccbb52ea94baeau, 0x98e947129fc2b4e9u }, /* 5^-65 */
    { 0xa87fea27a539e9a5u, 0x3f2398d747b36224u }, { 0xd29fe4b18e88640eu, 0x8eec7f0d19a03aadu },
    { 0x83a3eeeef9153e89u, 0x1953cf68300424acu }, { 0xa48ceaaab75a8e2bu, 0x5fa8c3423c052dd7u },
    { 0xcdb02555653131b6u, 0x3792f412cb06794du }, /* 5^-60 */
    { 0x808e17555f3ebf11u, 0xe2bbd88bbee40bd0u }, { 0xa0b19d2ab70e6ed6u, 0x5b6aceaeae9d0ec4u },
    { 0xc8de047564d20a8bu, 0xf245825a5a445275u }, { 0xfb158592be068d2eu, 0xeed6e2f0f0d56712u },
    { 0x9ced737bb6c4183du, 0x55464dd69685606bu }, /* 5^-55 */
    { 0xc428d05aa4751e4cu, 0xaa97e14c3c26b886u }, { 0xf53304714d9265dfu, 0xd53dd99f4b3066a8u },
    { 0x993fe2c6d07b7fabu, 0xe546a8038efe4029u }, { 0xbf8fdb78849a5f96u, 0xde98520472bdd033u },
    { 0xef73d256a5c0f77cu, 0x963e66858f6d4440u }, /* 5^-50 */
    { 0x95a8637627989aadu, 0xdde7001379a44aa8u }, { 0xbb127c53b17ec159u, 0x5560c018580d5d52u },
    { 0xe9d71b689dde71afu, 0xaab8f01e6e10b4a6u }, { 0x9226712162ab070du, 0xcab3961304ca70e8u },
    { 0xb6b00d69bb55c8d1u, 0x3d607b97c5fd0d22u }, /* 5^-45 */
    { 0xe45c10c42a2b3b05u, 0x8cb89a7db77c506au }, { 0x8eb98a7a9a5b04e3u, 0x77f3608e92adb242u },
    { 0xb267ed1940f1c61cu, 0x55f038b237591ed3u }, { 0xdf01e85f912e37a3u, 0x6b6c46dec52f6688u },
    { 0x8b61313bbabce2c6u, 0x2323ac4b3b3da015u }, /* 5^-40 */
    { 0xae397d8aa96c1b77u, 0xabec975e0a0d081au }, { 0xd9c7dced53c72255u, 0x96e7bd358c904a21u },
    { 0x881cea14545c7575u, 0x7e50d64177da2e54u }, { 0xaa242499697392d2u, 0xdde50bd1d5d0b9e9u },
    { 0xd4ad2dbfc3d07787u, 0x955e4ec64b44e864u }, /* 5^-35 */
    { 0x84ec3c97da624ab4u, 0xbd5af13bef0b113eu }, { 0xa6274bbdd0fadd61u, 0xecb1ad8aeacdd58eu },
    { 0xcfb11ead453994bau, 0x67de18eda5814af2u }, { 0x81ceb32c4b43fcf4u, 0x80eacf948770ced7u },
    { 0xa2425ff75e14fc31u, 0xa1258379a94d028du }, /* 5^-30 */
    { 0xcad2f7f5359a3b3eu, 0x096ee45813a04330u }, { 0xfd87b5f28300ca0du, 0x8bca9d6e188853fcu },
    { 0x9e74d1b791e07e48u, 0x775ea264cf55347eu }, { 0xc612062576589ddau, 0x95364afe032a819eu },
    { 0xf79687aed3eec551u, 0x3a83ddbd83f52205u }, /* 5^-25 */
    { 0x9abe14cd44753b52u, 0xc4926a9672793543u }, { 0xc16d9a0095928a27u, 0x75b7053c0f178294u },
    { 0xf1c90080baf72cb1u, 0x5324c68b12dd6339u }, { 0x971da05074da7beeu, 0xd3f6fc16ebca5e04u },
    { 0xbce5086492111aeau, 0x88f4bb1ca6bcf585u }, /* 5^-20 */
    { 0xec1e4a7db69561a5u, 0x2b31e9e3d06c32e6u }, { 0x9392ee8e921d5d07u, 0x3aff322e62439fd0u },
    { 0xb877aa3236a4b449u, 0x09befeb9fad487c3u }, { 0xe69594bec44de15bu, 0x4c2ebe687989a9b4u },
    { 0x901d7cf73ab0acd9u, 0x0f9d37014bf60a11u }, /* 5^-15 */
    { 0xb424dc35095cd80fu, 0x538484c19ef38c95u }, { 0xe12e13424bb40e13u, 0x2865a5f206b06fbau },
    { 0x8cbccc096f5088cbu, 0xf93f87b7442e45d4u }, { 0xafebff0bcb24aafeu, 0xf78f69a51539d749u },
    { 0xdbe6fecebdedd5beu, 0xb573440e5a884d1cu }, /* 5^-10 */
    { 0x89705f4136b4a597u, 0x31680a88f8953031u }, { 0xabcc77118461cefcu, 0xfdc20d2b36ba7c3eu },
    { 0xd6bf94d5e57a42bcu, 0x3d32907604691b4du }, { 0x8637bd05af6c69b5u, 0xa63f9a49c2c1b110u },
    { 0xa7c5ac471b478423u, 0x0fcf80dc33721d54u }, /* 5^-5 */
    { 0xd1b71758e219652bu, 0xd3c36113404ea4a9u }, { 0x83126e978d4fdf3bu, 0x645a1cac083126eau },
    { 0xa3d70a3d70a3d70au, 0x3d70a3d70a3d70a4u }, { 0xccccccccccccccccu, 0xcccccccccccccccdu },
    { 0x8000000000000000u, 0x0000000000000000u }, /* 5^0 */
    { 0xa000000000000000u, 0x0000000000000000u }, { 0xc800000000000000u, 0x0000000000000000u },
    { 0xfa00000000000000u, 0x0000000000000000u }, { 0x9c40000000000000u, 0x0000000000000000u },
    { 0xc350000000000000u, 0x0000000000000000u }, /* 5^5 */
    { 0xf424000000000000u, 0x0000000000000000u }, { 0x9896800000000000u, 0x0000000000000000u },
    { 0xbebc200000000000u, 0x0000000000000000u }, { 0xee6b280000000000u, 0x0000000000000000u },
    { 0x9502f90000000000u, 0x0000000000000000u }, /* 5^10 */
    { 0xba43b74000000000u, 0x0000000000000000u }, { 0xe8d4a51000000000u, 0x0000000000000000u },
    { 0x9184e72a00000000u, 0x0000000000000000u }, { 0xb5e620f480000000u, 0x0000000000000000u },
    { 0xe35fa931a0000000u, 0x0000000000000000u }, /* 5^15 */
    { 0x8e1bc9bf04000000u, 0x0000000000000000u }, { 0xb1a2bc2ec5000000u, 0x0000000000000000u },
    { 0xde0b6b3a76400000u, 0x0000000000000000u }, { 0x8ac7230489e80000u, 0x0000000000000000u },
    { 0xad78ebc5ac620000u, 0x0000000000000000u }, /* 5^20 */
    { 0xd8d726b7177a8000u, 0x0000000000000000u }, { 0x878678326eac9000u, 0x0000000000000000u },
    { 0xa968163f0a57b400u, 0x0000000000000000u }, { 0xd3c21bcecceda100u, 0x0000000000000000u },
    { 0x84595161401484a0u, 0x0000000000000000u }, /* 5^25 */
    { 0xa56fa5b99019a5c8u, 0x0000000000000000u }, { 0xcecb8f27f4200f3au, 0x0000000000000000u },
    { 0x813f3978f8940984u, 0x4000000000000000u }, { 0xa18f07d736b90be5u, 0x5000000000000000u },
    { 0xc9f2c9cd04674edeu, 0xa400000000000000u }, /* 5^30 */
    { 0xfc6f7c4045812296u, 0x4d00000000000000u }, { 0x9dc5ada82b70b59du, 0xf020000000000000u },
    { 0xc5371912364ce305u, 0x6c28000000000000u }, { 0xf684df56c3e01bc6u, 0xc732000000000000u },
    { 0x9a130b963a6c115cu, 0x3c7f400000000000u }, /* 5^35 */
    { 0xc097ce7bc90715b3u, 0x4b9f100000000000u }, { 0xf0bdc21abb48db20u, 0x1e86d40000000000u },
    { 0x96769950b50d88f4u, 0x1314448000000000u }, { 0xbc143fa4e250eb31u, 0x17d955a000000000u },
    { 0xeb194f8e1ae525fdu, 0x5dcfab0800000000u }, /* 5^40 */
    { 0x92efd1b8d0cf37beu, 0x5aa1cae500000000u }, { 0xb7abc627050305adu, 0xf14a3d9e40000000u },
    { 0xe596b7b0c643c719u, 0x6d9ccd05d0000000u }, { 0x8f7e32ce7bea5c6fu, 0xe4820023a2000000u },
    { 0xb35dbf821ae4f38bu, 0xdda2802c8a800000u }, /* 5^45 */
    { 0xe0352f62a19e306eu, 0xd50b2037ad200000u }, { 0x8c213d9da502de45u, 0x4526f422cc340000u },
    { 0xaf298d050e4395d6u, 0x9670b12b7f410000u }, { 0xdaf3f04651d47b4cu, 0x3c0cdd765f114000u },
    { 0x88d8762bf324cd0fu, 0xa5880a69fb6ac800u }, /* 5^50 */
    { 0xab0e93b6efee0053u, 0x8eea0d047a457a00u }, { 0xd5d238a4abe98068u, 0x72a4904598d6d880u },
    { 0x85a36366eb71f041u, 0x47a6da2b7f864750u }, { 0xa70c3c40a64e6c51u, 0x999090b65f67d924u },
    { 0xd0cf4b50cfe20765u, 0xfff4b4e3f741cf6du }, /* 5^55 */
    { 0x82818f1281ed449fu, 0xbff8f10e7a8921a4u }, { 0xa321f2d7226895c7u, 0xaff72d52192b6a0du },
    { 0xcbea6f8ceb02bb39u, 0x9bf4f8a69f764490u }, { 0xfee50b7025c36a08u, 0x02f236d04753d5b4u },
    { 0x9f4f2726179a2245u, 0x01d762422c946590u }, /* 5^60 */
    { 0xc722f0ef9d80aad6u, 0x424d3ad2b7b97ef5u }, { 0xf8ebad2b84e0d58bu, 0xd2e0898765a7deb2u },
    { 0x9b934c3b330c8577u, 0x63cc55f49f88eb2fu }, { 0xc2781f49ffcfa6d5u, 0x3cbf6b71c76b25fbu },
    { 0xf316271c7fc3908au, 0x8bef464e3945ef7au }, /* 5^65 */
};

bool pvi_decimal_wide(uint64_t m, int64_t q, double *out)
{
    if (m == 0) return *out = 0.0, true;
    if (q < Q_LO || q > Q_HI) return false;
    const uint64_t *T = five[q - Q_LO];
    const int lead = __builtin_clzll(m);
    const uint64_t w = m << lead;
    const unsigned __int128 top = (unsigned __int128)w * T[0]; /* (1) */
    uint64_t hi = (uint64_t)(top >> 64), lo = (uint64_t)top;
    if ((hi & 0x1FF) == 0x1FF) { /* (2) */
        const uint64_t below = (uint64_t)(((unsigned __int128)w * T[1]) >> 64);
        lo += below;
        hi += lo < below;
    }
    const int upper = (int)(hi >> 63), shift = upper + 9;
    uint64_t bits = hi >> shift;                          /* 53 bits and the rounding bit */
    int64_t e = ((217706 * q) >> 16) + upper - lead + 63; /* floor(q log2 10): exponent of the leading bit */
    if (lo <= 1 && q >= -4 && q <= 23 && (bits & 3) == 1 && bits << shift == hi) bits &= ~(uint64_t)1; /* (3) */
    bits = (bits + (bits & 1)) >> 1;
    if (bits >> 53) {
        bits >>= 1;
        e++;
    }
    if (e < -1022 || e > 1023) return false;
    const uint64_t word = (bits & 0x000FFFFFFFFFFFFFu) | (uint64_t)(e + 1023) << 52;
    memcpy(out, &word, 8);
    return true;
}
