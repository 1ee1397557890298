/** Each rule of the judgement, by a timestamp that breaks it and the same one that does not. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { certificateFaults } from '../../../test/support/timestamps/certificate-faults.ts';
import { judgeCase } from '../../../test/support/timestamps/fault-case.ts';
import { limitFaults } from '../../../test/support/timestamps/limit-faults.ts';
import { signatureFaults } from '../../../test/support/timestamps/signature-faults.ts';
import { tokenFaults } from '../../../test/support/timestamps/token-faults.ts';

const faults = [...tokenFaults, ...signatureFaults, ...certificateFaults, ...limitFaults];

for (const { name, status, reason, make } of faults) {
  test(`${status}: ${name}`, async () => {
    const faulty = await judgeCase(make(true));
    assert.equal(faulty.status, status, JSON.stringify(faulty));
    assert.match('reason' in faulty ? faulty.reason : '', reason);
    const sound = await judgeCase(make(false));
    assert.equal(sound.status, 'pass', JSON.stringify(sound));
  });
}
