'use client';

import { chainAt, trustNode, verifyProof } from '@holdfast/verify';
import { useState } from 'react';

/** Sends the chosen file, waits for its proof, and verifies it against the very bytes that were chosen. */
export function Upload() {
  const [state, setState] = useState({ step: 'idle', text: '' });

  async function send(event) {
    event.preventDefault();
    const file = new FormData(event.currentTarget).get('file');
    try {
      setState({ step: 'busy', text: 'Sending…' });
      const { id } = await upload(file);
      setState({ step: 'busy', text: 'Stored. Waiting for the anchor…' });
      const proof = await proofOf(id);
      // Trusts the clock of this chain, which is right for trying it out: see the guide on timestamps.
      const chain = chainAt(`${window.location.origin}/chain`);
      const content = new Uint8Array(await file.arrayBuffer());
      const result = await verifyProof(proof, { content, chain, trust: await trustNode(chain) });
      setState({ step: result.verdict, text: result.summary, steps: result.steps, proof });
    } catch (error) {
      setState({ step: 'fail', text: error.message });
    }
  }

  const { step, text, steps = [], proof } = state;
  return (
    <>
      <form onSubmit={send}>
        <label htmlFor="file">File, up to 25 MB</label>
        <input id="file" name="file" type="file" required />
        <button type="submit" disabled={step === 'busy'}>
          Send and verify
        </button>
      </form>
      <p role="status" className={step}>
        {step === 'idle' || step === 'busy' ? text : `${step.toUpperCase()}: ${text}`}
      </p>
      {steps.length > 0 && (
        <ol aria-label="What was checked">
          {steps.map(({ name, status, detail }) => (
            <li key={name}>
              <b>{status}</b> {name} {detail}
            </li>
          ))}
        </ol>
      )}
      {proof && <Download proof={proof} />}
    </>
  );
}

function Download({ proof }) {
  const href = `data:application/json,${encodeURIComponent(JSON.stringify(proof))}`;
  return (
    <p>
      <a href={href} download="proof.json">
        Download the proof
      </a>{' '}
      and keep it with the file: it can be verified anywhere, without this page.
    </p>
  );
}

/** Sent again after a lost answer, with the same id, so that it is stored once. */
async function upload(file) {
  const headers = {
    'content-type': file.type || 'application/octet-stream',
    'x-file-name': encodeURIComponent(file.name),
    'x-upload-id': crypto.randomUUID(),
  };
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await answerOf(await fetch('/files', { method: 'POST', headers, body: file }));
    } catch (error) {
      if (!(error instanceof TypeError) || attempt === 3) throw error;
      await pause(1_000 * attempt);
    }
  }
}

async function proofOf(id) {
  for (;;) {
    const { proof } = await answerOf(await fetch(`/files/${id}`));
    if (proof) return proof;
    await pause(1_000);
  }
}

async function answerOf(response) {
  const body = await response.json();
  if (response.ok) return body;
  throw new Error(body.message);
}

const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
