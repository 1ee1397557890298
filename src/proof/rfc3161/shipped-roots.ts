/**
 * The roots that ship: those of Debian's package ca-certificates under which well-known public timestamp authorities
 * stand today. Each is reduced to what counts, because a web page carries it: the name, the key (all are RSA with 4,096
 * bits and the exponent 65,537, so the modulus suffices), the validity, and the fingerprint of the certificate.
 */
import { fromBase64 } from './anchor.ts';
import { nameText, type TrustAnchor } from './certificates.ts';
import { bitString, integer, nullTag, sequence, set, writeDer, writeInteger, writeOid } from './der.ts';

interface CompactRoot {
  /** Types below 2.5.4 and values, in the order of the certificate. */
  subject: [number, string][];
  /** The tag of all values but the country, which is always a PrintableString. */
  strings: number;
  notBefore: string;
  notAfter: string;
  fingerprint: TrustAnchor['fingerprint'];
  /** In base64, over several lines. */
  modulus: string;
}

const printable = 0x13;
const utf8 = 0x0c;
const country = 6;

const compact: CompactRoot[] = [
  // timestamp.digicert.com
  {
    subject: [
      [6, 'US'],
      [10, 'DigiCert Inc'],
      [11, 'www.digicert.com'],
      [3, 'DigiCert Trusted Root G4'],
    ],
    strings: printable,
    notBefore: '2013-08-01T12:00:00Z',
    notAfter: '2038-01-15T12:00:00Z',
    fingerprint: '0x552f7bdcf1a7af9e6ce672017f4f12abf77240c78e761ac203d1d9d20ac89988',
    modulus: `
      v+aQc2jeu+RdSjwwIjBpM+zCpyUuySE98orYWcLhKac9WKt2ms2uexuEDcQwH/MbpDgW61bGl20dq7J58soR0uRf1gU8Ug9SH8ae
      FaV+vp+pVxZZVXKvaJNwwrK6dZlqczKU0RBEEC7fgvMHhOZ0O21x4i0MG+4g1ckgHWMpLc7sXk7Ik/ghYZs06wXGXuxbGrzryc/N
      rDRAX7F6Zu53yEioZldXn1RYjgwrt0+nMNlW7sp7XeOtyU9e5TXnMcvak17cjo+A2raRmECQecN4x7axxLVqGDgDEI3Y1DekLgV9
      iPWCPhCRcKtVgkEy19sEcypukQF8IUzUvK4bA3VdeGbZOjFEmjNAvwjXWkmkwuapoGfdpCe8oU85tRFYF/ckXEaPZPfBaYh2mHY9
      WV1CdoeJl2l6SPDgohIbZpp0yt5LHucOY67m1O+SkjqePdwA5EUlibaaRBkrfsCUtNJhbesz2cXfSwQAzH0clcOP9yGyshG3u3/y
      1YxwLEFgqrFjGESVGnZifvaAsPvoZKYz0YkH4b235kOkGLimdwHhD5QMIR2yVCkliWzlDlJRR3S+Jqy2QXXeeqxfjT/JvNNBERJb
      5RBQ6zHFynIWIgnffEx1P2PsIV/EIFFrb7GrhotPwtZFX50g/KEexcCPorF+CiaZ9eRpL5gdLfXZqbId5Rs=`,
  },
  // timestamp.sectigo.com; its own root R46 is signed by this one as well
  {
    subject: [
      [6, 'US'],
      [8, 'New Jersey'],
      [7, 'Jersey City'],
      [10, 'The USERTRUST Network'],
      [3, 'USERTrust RSA Certification Authority'],
    ],
    strings: printable,
    notBefore: '2010-02-01T00:00:00Z',
    notAfter: '2038-01-18T23:59:59Z',
    fingerprint: '0xe793c9b02fd8aa13e21c31228accb08119643b749c898964b1746d46c3d4cbd2',
    modulus: `
      gBJlFzYOw9sIs9CsVw127c0n00ytUINh4qogTQktZAnczomfzD2p7PbPwdzx07HWezcoEStH2jnGvDoZtF+mvX2do2NCtnbyqTsr
      kfjib9DsFiCQCT7i6HTJGLSR1GJk23+jBvGIGGqQIjy8/hPwhxR79uQfjtTkUcYRZ0YIUcuGFFQ/vDP+fmyc/xadGL1RjjWmp2bI
      cmfbIWax1Jt4A8BQOujM8Ny8nkz+rwWWNR9XWrf/zvk9tyy29lTdyOcSOk2uTIq3XJq0tyA9yn8iNK5+O2hmAUTnAU5GU5szYPeU
      vlM3kHND8zLDU+/bqv50TmnHa4xgk97Exwzf4TKuzJM7UXiVZ4vuPVb+DNBpDxsP8yUmazNt925H+nND5X4OpWaxKXwyhGNVicQN
      wZNUMBkTrNN9N6frXTpsNVzbQdcS2qlJC9/YgIoJk2KOtWbPJYjNhLixP6Q5D9kCnusSTJV882sFqV4Wg8y4Z+LoE53MW4LTTLPt
      W//e5XOsIzstAL81VXQJSdhJWBp/kjbmUZIO8yZ9HE0XvMnsQybQv0FfQKlERPSZ51eHnlAfV1SoPv10Yy+xUGUJ5lhCLkMaTLTw
      JUdZ+gQek9QmRkpQgbLevni3/GcV4clXhB4PY9bpYrrWX1Uu6lzGKAgEJTm4Diup8kyXHAc/DVL17e8vgg8=`,
  },
  // timestamp.globalsign.com/tsa/r6advanced1
  {
    subject: [
      [11, 'GlobalSign Root CA - R6'],
      [10, 'GlobalSign'],
      [3, 'GlobalSign'],
    ],
    strings: printable,
    notBefore: '2014-12-10T00:00:00Z',
    notAfter: '2034-12-10T00:00:00Z',
    fingerprint: '0x2cabeafe37d06ca22aba7391c0033d25982952c453647349763a3ab5ad6ccf69',
    modulus: `
      lQfoc8pm+ewUyns89w0I8bRFCyyCtEjG61s8roO4QZIzFKRvf+kqzMawiGvFtonRxrL/FM5RFCHsSt0bWsbWh+5NOhUG7WRmC5KA
      ykTec5RO86eJf094YwjIElBtQmYvTbl5KE1SGooagLcZgQ5+xIq8ZEwhHENo1z08isWyZtWQmrcxBsW+4m0yBqYe+bnrqqO4v76C
      Y1DQ8BiJ3+QPefXqoh8q0nAue+e8k7ttU+JIfIwQBzj/ZrJ3YX7g6ow8qrSk9vOVShIHbf2MsonP0KBhd8hYdLDUIzr3XTrKotud
      Cd5dRC2Q8YHNV5L6frxQBGM032uTGL5rNrI55KwkNrfw77YcE1eTtt6y+OKFt3OiuDWqRfLgnTahb1SK8XJWbi6IxVFCRBWU7qPF
      OJabTk5aC0fzBjZJdzC8cTflpuwhCHX85mEWP3fV2ZGXhAps1AJNdMAU7f05+4PyXhShBLAL6f7uj+FuC7IIs2FmCWqxBjplllnA
      8DX9ydoojRoRh3CBCqiadR2eOoYFAJ7bgNYl+dwFnidZTHY5W+r5paHYgw/R/98wEfmFzzNI9cptZBQselhP00sIScWVZBpjDnk9
      9bOMylitnEJFeW4OhxlcVLFltr+Mm9wT6Q1vuC7cZ27JixG1hBSKABlwg3mRl5HUGie/Nx4yB9gUYzwoTK8=`,
  },
  // ts.ssl.com
  {
    subject: [
      [6, 'US'],
      [8, 'Texas'],
      [7, 'Houston'],
      [10, 'SSL Corporation'],
      [3, 'SSL.com Root Certification Authority RSA'],
    ],
    strings: utf8,
    notBefore: '2016-02-12T17:39:39Z',
    notAfter: '2041-02-12T17:39:39Z',
    fingerprint: '0x85666a562ee0be5ce925c1d8890a6f76a87ec16d4d7d5f29ea7419cf20123b69',
    modulus: `
      +Q/doyt9y9Aq/uxnhabnLhu6d+Hj9a+k7PpKXZHEV0drGHdrdvL9k+Q9D8IWngtmw1aUnheDhc5W7/IW/QBi9SIJVOhlF05BueBP
      RpeqG8i4bmJeabFf2yoCfvxsyvNB2O3Q6Pw/YUjtsAMUHRAOSxngu07shmX/NvNeZwILnYZVYf16OO3+4hkAt2+hUGJ1dDyg+sgl
      krRueiLH+B6h47LdkTGrKx0E/6VKBDfphaQzK/3i1lU0fBmkSmjHsqjTt8qhk4jrwZe8jPkd2SKEJHTHBD1qqSmTzOu4W+H+XyWq
      NFjIwSNUnRuYEcM4nH49hmylD0CGfAL0XAJPKMuucZ8POsgz/hElNer8usVgPdl8GNWyqdN1eANyIso6wx/vLOUuqfqeLLZRRv2v
      A9bqYGjqhRY2a4XpHsCz3cQk3IAqgUFtlD7I4MmBQQCeXr9/xQiYohgsQkCz+W84J0tOgPQ9gUfgiHzqHM61dVxRLhwrfxpyKOcA
      tdF0xtfkn60Hk7ZTNTX8N+TD9l0WviFz3pIK+KBjaryWkmo++LxlVZve9Q2JJgT8JRqmJWnLwm3KfOJZX5es6+8uyLzXG1k8K8zy
      GciTaydjGc/86Sb4ynGbf5P+NGeETpnr/LN4CTNwumamdu0bc+sapQ3EIhMglFYKTixsTrH9z5wJuqIz7Yc=`,
  },
  // time.certum.pl
  {
    subject: [
      [6, 'PL'],
      [10, 'Unizeto Technologies S.A.'],
      [11, 'Certum Certification Authority'],
      [3, 'Certum Trusted Network CA 2'],
    ],
    strings: printable,
    notBefore: '2011-10-06T08:39:56Z',
    notAfter: '2046-10-06T08:39:56Z',
    fingerprint: '0xb676f2eddae8775cd36cb0f63cd1d4603961f49e6265ba013a2f0307b6d0b804',
    modulus: `
      vfl4+ObVgAxknYYblmRnPyI6HnUBfe/7XGeMycxca6mR5rlC5SBLm9qbe7mZXdmbgEvXhEArJ9PoujC7Pgkap0mV7ytAJMKXx6fu
      myXvqAoAl4Vaqp3cKcniNQfrcE1K1sGzVrihQTib0fsxf4/gX+GxPw+OFklg1waNGPmqJhCrKtPQ0WeNG0a+RzDVLnLRxWPa52N5
      RH5LYySJhi40PylMUosqp8DikSiJucBb+R3Z5yet/5oCl8HGUJKbAiy9qbk0WQq/hEr/3/6zn+vZnuCYI+yma3cWKtvMrTscpIfc
      RnNeGWJoRVfkkIJCu0LW8GHgwaM9ZqNd9BjuiMmNF0UpmTJ1AjHuKSbIawLmtWJFfzcVWiNoidQ+3k4nsPBADLxNF8tNorMe0AZa
      3faTz1d1mfX6hhpneLO/lv403L3nUlbls+V1e9dBkQXcXWnjlQ1DufyDljmVe2yAWk8TcsbXfSl6RLpSpCrVQUYJIP4ioLZbMI28
      iQzV13D4h1L92u+sUS4Hs07+0AnacO+Y+lbmbdu1V0vc5SwlFcieLnhO+NqcnoYsylfzGuXIkosagpZ6w7xQEmnYDlpGizrrJvoj
      ybawgb5CAKT41v4wLsfSRvbljnX98sy50IdbzAYQYLuDNbdeZ95H7JlI8aShFf6tjGKOOVVPORa5sWOd/7c=`,
  },
];

export const shippedRoots: readonly TrustAnchor[] = compact.map((root) => {
  const names = root.subject.map(([type, text]) => {
    const value = writeDer(type === country ? printable : root.strings, new TextEncoder().encode(text));
    return writeDer(set, writeDer(sequence, writeOid(`2.5.4.${type}`), value));
  });
  const subject = writeDer(sequence, ...names);
  return {
    subject,
    spki: rsaKey(fromBase64(root.modulus.replace(/\s/g, '')) ?? new Uint8Array()),
    name: nameText(subject),
    fingerprint: root.fingerprint,
    notBefore: Date.parse(root.notBefore),
    notAfter: Date.parse(root.notAfter),
  };
});

/** The modulus starts with a bit that is set, so that a zero goes before it. */
function rsaKey(modulus: Uint8Array): Uint8Array {
  const numbers = writeDer(sequence, writeDer(integer, [0], modulus), writeInteger(65_537n));
  const algorithm = writeDer(sequence, writeOid('1.2.840.113549.1.1.1'), writeDer(nullTag));
  return writeDer(sequence, algorithm, writeDer(bitString, [0], numbers));
}
