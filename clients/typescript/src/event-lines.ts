/** Reads server-sent events: https://html.spec.whatwg.org/multipage/server-sent-events.html */

export interface Message {
  id: string | null;
  data: string | null;
  retryMs: number | null;
}

/** A block without fields, such as a comment that keeps the connection open, is a message without anything. */
export async function* messagesOf(body: ReadableStream<Uint8Array>): AsyncGenerator<Message, void> {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let rest = '';
  try {
    while (true) {
      const { value, done } = await reader.read();
      if (done) return;
      rest = (rest + decoder.decode(value, { stream: true })).replace(/\r\n|\r(?!$)/g, '\n');
      const blocks = rest.split('\n\n');
      rest = blocks.pop() ?? '';
      for (const block of blocks) yield readBlock(block);
    }
  } finally {
    await reader.cancel().catch(() => {});
  }
}

function readBlock(block: string): Message {
  const message: Message = { id: null, data: null, retryMs: null };
  for (const line of block.split('\n')) {
    const [, name = '', value = ''] = /^([^:]*)(?:: ?(.*))?$/s.exec(line) ?? [];
    if (name === 'id') message.id = value;
    if (name === 'data') message.data = message.data === null ? value : `${message.data}\n${value}`;
    if (name === 'retry' && /^\d{1,9}$/.test(value)) message.retryMs = Number(value);
  }
  return message;
}
