/**
 * A temperature sensor in a refrigerated truck: measures, stores its readings as records, and at the end of the trip proves the
 * warmest one. While the service is away it measures on, and sends later.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { createClient, HoldfastError } from '@holdfast/client';
import { chainAt, trustNode, verifyProof } from '@holdfast/verify';
import { openTrip } from './trip.js';

const { HOLDFAST_URL = 'http://127.0.0.1:3000', HOLDFAST_API_KEY } = process.env;
const { SENSOR = 'truck-12', READINGS = '60', INTERVAL_MS = '500', OUT_DIR = 'trip' } = process.env;
const pauseMs = Number(process.env.PAUSE_MS ?? 2_000);
const limitCelsius = -15;

const holdfast = createClient({
  baseUrl: HOLDFAST_URL,
  apiKey: HOLDFAST_API_KEY,
  retries: 0,
  timeoutMs: 10_000,
});
const trip = openTrip(OUT_DIR);
let isOver = false;

/** Cold while it drives, warmer while a door is open. */
function measure(number) {
  const doorIsOpen = number % 30 >= 20 && number % 30 < 26;
  const celsius = (doorIsOpen ? -13 : -19) + Math.sin(number / 4) + Math.random() / 2;
  const measuredAt = new Date().toISOString();
  return {
    sensor: SENSOR,
    trip: trip.id,
    number,
    measuredAt,
    celsius: Math.round(celsius * 10) / 10,
    doorIsOpen,
  };
}

/** Whatever was lost on the way, an answer or the power: what is sent again has the same key, and is stored once. */
async function sendBatch(batch) {
  if (trip.vaultAddress() === null) {
    const vault = await holdfast.createVault({ name: `Cold chain ${SENSOR}` }, { idempotencyKey: trip.id });
    trip.useVault(vault.address);
  }
  const [first, last] = [batch[0].number, batch.at(-1).number];
  const records = batch.map((data) => ({ externalId: `${SENSOR}/${trip.id}/${data.number}`, data }));
  const made = await holdfast.createRecords(
    { vaultAddress: trip.vaultAddress(), records },
    { idempotencyKey: `${trip.id}/${first}` },
  );
  trip.markSent(made.map(({ id }) => id));
  console.log(`stored readings ${first} to ${last}`);
}

async function sendAll() {
  for (;;) {
    const batch = trip.nextBatch({ isOver });
    if (batch === null) {
      if (isOver) return;
      await sleep(100);
      continue;
    }
    try {
      await sendBatch(batch);
    } catch (error) {
      // A refusal stays one. Everything else passes: the readings wait on the disk.
      if (error instanceof HoldfastError && error.status < 500 && error.status !== 429) throw error;
      console.log(`readings from ${batch[0].number} on wait: ${error.message}`);
      await sleep(pauseMs);
    }
  }
}

async function drive() {
  while (trip.readings.length < Number(READINGS)) {
    const reading = measure(trip.readings.length);
    trip.add(reading);
    console.log(`reading ${reading.number}: ${reading.celsius} °C${reading.doorIsOpen ? ', door open' : ''}`);
    await sleep(Number(INTERVAL_MS));
  }
  isOver = true;
}

/** With a client that does retry: the trip is over, and there is time. */
async function proveWarmest() {
  const patient = createClient({ baseUrl: HOLDFAST_URL, apiKey: HOLDFAST_API_KEY });
  const warmest = trip.readings.toSorted((a, b) => b.celsius - a.celsius)[0];
  const tooWarm = trip.readings.filter(({ celsius }) => celsius > limitCelsius).length;
  console.log(`${tooWarm} of ${trip.readings.length} readings above ${limitCelsius} °C`);
  const recordId = trip.recordIds()[warmest.number];
  await patient.waitUntilConfirmed(() => patient.getRecord({ recordId }));
  const proof = await patient.getRecordProof({ recordId });
  writeFileSync(join(OUT_DIR, 'proof.json'), JSON.stringify(proof));
  writeFileSync(join(OUT_DIR, 'content.json'), JSON.stringify(warmest));
  // Trusts the clock of this chain, which is right for trying it out: see the guide on timestamps.
  const chain = chainAt(`${HOLDFAST_URL}/verify/rpc`);
  const { verdict, summary } = await verifyProof(proof, {
    content: warmest,
    chain,
    trust: await trustNode(chain),
  });
  console.log(`warmest: reading ${warmest.number}, ${warmest.celsius} °C; proof: ${verdict}. ${summary}`);
  if (verdict !== 'pass') process.exitCode = 1;
}

await Promise.all([drive(), sendAll()]);
await proveWarmest();
trip.end();
