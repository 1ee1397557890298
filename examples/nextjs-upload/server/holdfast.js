/** The client of the server. The API key stays here: pages talk to the routes of this app only. */
import { createClient } from '@holdfast/client';

export const serviceUrl = process.env.HOLDFAST_URL ?? 'http://127.0.0.1:3000';

export const holdfast = createClient({ baseUrl: serviceUrl, apiKey: process.env.HOLDFAST_API_KEY });

let vault = null;

/** One vault for all uploads of this app, made when the first file comes. */
export async function vaultAddress() {
  vault ??= findVault().catch((error) => {
    vault = null;
    throw error;
  });
  return vault;
}

const name = 'Uploads';

async function findVault() {
  for await (const { address, ...found } of holdfast.listVaults({ status: 'active' })) {
    if (found.name === name) return address;
  }
  return (await holdfast.createVault({ name })).address;
}
