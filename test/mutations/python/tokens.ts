/** DER, and the form of tokens, in the second verifier: each rule left out, and the vector that has to turn red. */
import { replacing, withoutEnds, withoutRules } from './python-mutation.ts';

export const tokensInPython = [
  ...withoutRules('rfc3161/cms.py', [
    ['an attribute has not one value', 'len(values) == 1', 'rfc3161-content-type-with-two-values'],
    ['an attribute is of another type', 'values[0].tag == tag', 'rfc3161-content-type-under-another-tag'],
    [
      'the SignerInfo is of another version than its name demands',
      'version == (1 if key is None else 3)',
      'rfc3161-signerinfo-of-version-1-that-names-a-key',
    ],
    [
      'the hash of the signer is not among those of the SignedData',
      'algorithm.oid in digest_algorithms',
      'rfc3161-the-list-of-hashes-lacks-the-signers',
    ],
    [
      'the attribute content-type is not TSTInfo',
      'oid(content_type) == _TSTINFO',
      'rfc3161-another-content-type',
    ],
    ['there is no attribute signing-certificate', 'len(ess_attributes) > 0', 'rfc3161-no-ess-attribute'],
    [
      'the content of the token is not an OCTET STRING',
      'content.tag == der.OCTET_STRING',
      'rfc3161-content-a-text',
    ],
    ['an attribute occurs twice', 'name not in found', 'rfc3161-an-unknown-attribute-twice'],
  ]),
  ...withoutEnds('rfc3161/cms.py', [
    ['the token has not exactly one signer', 'len(signers) != 1', 'rfc3161-no-signer'],
  ]),
  ...replacing('rfc3161/cms.py', [
    [
      'the token is not SignedData',
      'require(oid(outer.take(der.OID)) == _SIGNED_DATA,',
      'require(oid(outer.take(der.OID)) == _SIGNED_DATA or True,',
      'rfc3161-the-content-is-not-signeddata',
    ],
    [
      'the SignedData is not of version 3',
      'require(integer(fields.take(der.INTEGER)) == 3,',
      'require(integer(fields.take(der.INTEGER)) == 3 or True,',
      'rfc3161-signeddata-of-version-4',
    ],
    [
      'the content of the token is not a TSTInfo',
      'require(oid(encapsulated.take(der.OID)) == _TSTINFO,',
      'require(oid(encapsulated.take(der.OID)) == _TSTINFO or True,',
      'rfc3161-the-content-type-is-not-tstinfo',
    ],
    [
      'the SignerInfo has an element too many',
      'fields.optional(der.context(1))\n    fields.end()',
      'fields.optional(der.context(1))\n    pass',
      'rfc3161-surplus-in-the-signerinfo',
    ],
    ['the ContentInfo has an element too many', 'outer.end()', 'pass', 'rfc3161-surplus-in-the-contentinfo'],
    [
      'the content of the SignedData has an element too many',
      'encapsulated.end()',
      'pass',
      'rfc3161-surplus-in-the-encapsulated-content',
    ],
    [
      'the SignedData has an element too many',
      'signers = elements(fields.take(der.SET), der.SET, "The signers")\n    fields.end()',
      'signers = elements(fields.take(der.SET), der.SET, "The signers")\n    pass',
      'rfc3161-surplus-in-the-signeddata',
    ],
    [
      'an attribute has an element too many',
      'values = fields.take(der.SET).children\n        fields.end()',
      'values = fields.take(der.SET).children\n        pass',
      'rfc3161-surplus-in-the-attribute',
    ],
    [
      'the name of the signer has an element too many',
      'place.end()',
      'pass',
      'rfc3161-surplus-in-the-issuer-and-serial-number',
    ],
  ]),
  ...withoutRules('rfc3161/der.py', [
    [
      'a BOOLEAN is neither 00 nor ff',
      'content in (b"\\x00", b"\\xff")',
      'rfc3161-a-boolean-of-another-value-in-an-unsigned-attribute',
    ],
    ['an INTEGER is padded', 'not padded', 'rfc3161-a-padded-enumerated-value-in-an-unsigned-attribute'],
    [
      'a BIT STRING has more than 7 unused bits',
      'unused <= 7',
      'rfc3161-eight-unused-bits-in-an-unsigned-attribute',
    ],
    [
      'a BIT STRING has unused bits of nothing',
      'unused == 0 or len(content) > 1',
      'rfc3161-unused-bits-of-nothing-in-an-unsigned-attribute',
    ],
    [
      'unused bits of a BIT STRING are set',
      'content[-1] & ((1 << unused) - 1) == 0 or len(content) == 1',
      'rfc3161-unused-bits-that-are-set-in-an-unsigned-attribute',
    ],
    ['a NULL is not empty', 'content == b""', 'rfc3161-a-null-with-content-in-an-unsigned-attribute'],
    [
      'an OBJECT IDENTIFIER has no or too many bytes',
      '0 < len(content) <= _MOST_OID',
      'rfc3161-an-empty-object-identifier-in-an-unsigned-attribute',
    ],
    [
      'an OBJECT IDENTIFIER is cut off',
      'content[-1] < 0x80',
      'rfc3161-an-object-identifier-that-is-cut-off-in-an-unsigned-attribute',
    ],
    [
      'an arc of an OBJECT IDENTIFIER is padded',
      '0x80 not in starts',
      'rfc3161-a-padded-arc-in-an-unsigned-attribute',
    ],
    ['DER is empty', 'len(data) > 0', 'rfc3161-basic-constraints-empty'],
    ['something follows the end of DER', 'element.end == len(data)', 'rfc3161-bytes-after-the-token'],
    [
      'there are more than 2^18 elements of DER',
      'self.count <= _MOST_ELEMENTS',
      'rfc3161-der-262145-elements',
    ],
    ['there are more than 32 levels of DER', 'level <= _MOST_LEVELS', 'rfc3161-more-than-32-levels'],
    ['a tag has several bytes', 'tag & 0x1F != 0x1F', 'rfc3161-der-tag-31-of-a-context'],
    ['a length of DER is missing', 'at < limit', 'rfc3161-a-tag-without-a-length-in-an-unsigned-attribute'],
    [
      'an element of DER goes beyond the end',
      'body + length <= limit',
      'rfc3161-a-length-beyond-the-end-in-an-unsigned-attribute',
    ],
    ['a tag is 0', 'tag & 0x1F != 0', 'rfc3161-the-end-of-contents-in-an-unsigned-attribute'],
    [
      'a type is constructed although it may not be, or is not although it must be',
      'constructed == (tag | _CONSTRUCTED in (SEQUENCE, SET))',
      'rfc3161-a-primitive-sequence-in-an-unsigned-attribute',
    ],
    [
      'a length of DER has a leading zero',
      'self.data[at + 1] != 0',
      'rfc3161-a-length-with-a-zero-before-it-in-an-unsigned-attribute',
    ],
    [
      'a short length of DER has the long form',
      'length >= 0x80',
      'rfc3161-a-long-form-for-a-short-length-in-an-unsigned-attribute',
    ],
  ]),
  ...replacing('rfc3161/der.py', [
    [
      'an INTEGER is empty',
      'require(len(content) > 0, "DER: an INTEGER is empty.")',
      'require(True, "DER: an INTEGER is empty.")',
      'rfc3161-an-integer-without-value-in-an-unsigned-attribute',
    ],
    [
      'a BIT STRING is empty',
      'require(len(content) > 0, "DER: a BIT STRING is empty.")',
      'require(True, "DER: a BIT STRING is empty.")',
      'rfc3161-a-bit-string-without-its-first-byte-in-an-unsigned-attribute',
    ],
  ]),
  ...withoutRules('rfc3161/ess.py', [
    [
      'the issuer in an ESS attribute is not one directoryName',
      'len(names) == 1 and names[0].tag == directory_name',
      'rfc3161-ess-with-two-names',
    ],
    [
      'an ESS attribute identifies no certificate',
      'len(listed) >= 1',
      'rfc3161-ess-empty-and-no-certificates',
    ],
    [
      'an ESS attribute has more than 16 identifiers',
      'len(listed) <= _MOST_IDENTIFIERS',
      'rfc3161-an-ess-attribute-with-17-certificates',
    ],
  ]),
  ...replacing('rfc3161/ess.py', [
    [
      'the issuer and serial number in an ESS attribute have an element too many',
      'serial = fields.take(der.INTEGER).content\n    fields.end()',
      'serial = fields.take(der.INTEGER).content\n    pass',
      'rfc3161-surplus-in-the-ess-issuer-and-serial-number',
    ],
    [
      'an identifier in an ESS attribute has an element too many',
      'place = fields.optional(der.SEQUENCE)\n    fields.end()',
      'place = fields.optional(der.SEQUENCE)\n    pass',
      'rfc3161-surplus-in-the-ess-identifier-v1',
    ],
    [
      'an ESS attribute has an element too many',
      'fields.end()\n    require(len(listed) >= 1, "An ESS attribute identifies no certificate.")',
      'pass\n    require(len(listed) >= 1, "An ESS attribute identifies no certificate.")',
      'rfc3161-surplus-in-the-ess-v1',
    ],
  ]),
  ...withoutRules('rfc3161/tstinfo.py', [
    [
      'milliseconds of an accuracy are not 1 to 999',
      '1 <= value <= 999',
      'rfc3161-an-accuracy-out-of-range-1',
    ],
    [
      'the seconds of the accuracy are out of range',
      '0 <= seconds <= _MOST_SECONDS',
      'rfc3161-a-negative-accuracy',
    ],
    [
      'the TSTInfo has a critical extension',
      'not any(each.critical for each in extensions.values())',
      'rfc3161-a-critical-extension-in-the-tstinfo',
    ],
  ]),
  ...replacing('rfc3161/tstinfo.py', [
    [
      'the TSTInfo is not of version 1',
      'require(integer(fields.take(der.INTEGER)) == 1,',
      'require(integer(fields.take(der.INTEGER)) == 1 or True,',
      'rfc3161-tstinfo-of-version-2',
    ],
    [
      'the accuracy has an element too many',
      'micros = _part(fields.optional(der.context(1, constructed=False)), "microseconds")\n    fields.end()',
      'micros = _part(fields.optional(der.context(1, constructed=False)), "microseconds")\n    pass',
      'rfc3161-surplus-in-the-accuracy',
    ],
    ['the imprint has an element too many', 'imprint.end()', 'pass', 'rfc3161-surplus-in-the-imprint'],
    [
      'the TSTInfo has an element too many',
      'listed = fields.optional(der.context(1))\n    fields.end()',
      'listed = fields.optional(der.context(1))\n    pass',
      'rfc3161-fields-of-the-tstinfo-in-another-order',
    ],
  ]),
  ...withoutRules('rfc3161/values.py', [
    [
      'an explicit tag does not contain exactly one element',
      'len(element.children) == 1',
      'rfc3161-two-contents',
    ],
    [
      'a signature does not consist of whole bytes',
      'element.content[0] == 0',
      'rfc3161-a-signature-that-does-not-consist-of-whole-bytes',
    ],
    [
      'the time of a certificate has a fraction',
      'not fraction or fraction_allowed',
      'rfc3161-certificate-ends-with-a-fraction',
    ],
    [
      'a structure of DER has an element too many',
      'not self._left',
      'rfc3161-fields-of-the-tstinfo-in-another-order',
    ],
  ]),
  ...withoutEnds('rfc3161/values.py', [
    ['a time is not written in UTC with seconds', 'match is None', 'rfc3161-a-time-without-seconds'],
    ['a time does not exist', 'found is None', 'rfc3161-24-oclock'],
    [
      'a structure of DER lacks an element',
      'element is None',
      'rfc3161-a-certificate-beside-the-token-that-is-none',
    ],
  ]),
  ...replacing('rfc3161/values.py', [
    [
      'a list of DER is of another type',
      'require(element.tag == tag, f"{what} is of another type.")\n    return element.children',
      'require(True, f"{what} is of another type.")\n    return element.children',
      'rfc3161-an-extended-key-usage-in-a-set',
    ],
    [
      'a structure of DER is of another type',
      'require(element.tag == tag, f"{what} is of another type.")\n        self._left',
      'require(True, f"{what} is of another type.")\n        self._left',
      'rfc3161-a-set-instead-of-a-sequence',
    ],
    [
      'a number under a tag of another class is padded',
      'der.check_integer(element.content)',
      'pass',
      'rfc3161-accuracy-padded',
    ],
    [
      'a flag under a tag of another class is no BOOLEAN',
      'der.check_boolean(element.content)',
      'pass',
      'rfc3161-revocation-a-scope-with-a-boolean-that-is-neither',
    ],
  ]),
];
