/** Mail about notices, through a real mail server: over TLS, with a wrong password, and while the server is away. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { becomeOwner } from '../support/clients/browser-session.ts';
import { certificate } from '../support/clients/receiver.ts';
import { type MailServer, startMailServer } from '../support/clients/smtp-server.ts';
import { notices, toldTimes } from '../support/fixtures/notices-fixture.ts';
import { holdfast, waitUntil } from '../support/service/process.ts';
import { type Service, startService } from '../support/service/service.ts';

const open: { close(): Promise<void> }[] = [];
after(async () => {
  for (const one of open.reverse()) await one.close();
});
const opened = <T extends { close(): Promise<void> }>(one: T): T => {
  open.push(one);
  return one;
};

const from = 'Holdfast <holdfast@example.com>';
const ada = { name: 'Ada', email: 'ada@example.com', password: 'the tide waits for nobody' };

function mailSettings(url: string) {
  return {
    HOLDFAST_SMTP_URL: url,
    HOLDFAST_MAIL_FROM: from,
    HOLDFAST_SMTP_CA_FILE: certificate().caFile,
  };
}

/** A key that is about to expire, by a name that nobody else uses. */
async function raiseOne(service: Service): Promise<string> {
  const { rows } = await service.sql(
    `insert into api_keys (workspace_id, id, name, hint, secret_hash, scopes, expires_at, created_at)
     select id, 'key_' || md5(random()::text), 'Crane 7', 'hf', sha256(random()::text::bytea), '{}',
       now() + interval '3 days', now() - interval '1 year'
     from workspaces where slug = 'default' returning id`,
  );
  return rows[0].id;
}

/** The server has the mail a moment before its row is gone. */
const untilNoneWaits = (service: Service) =>
  waitUntil(async () => (await service.sql('select 1 from notice_mails limit 1')).rows.length === 0);

const mailed = (server: MailServer, times: number) =>
  waitUntil(() => server.mails.length >= times && server.mails);

test('owners are mailed once, in plain words, with a link; and turn it off for themselves', async () => {
  const server = opened(await startMailServer({ secure: true, password: 'a/b c' }));
  const service = opened(
    await startService({
      env: mailSettings(`smtps://holdfast:a%2Fb%20c@localhost:${server.port}`),
      noticeTimes: { lookMs: 100 },
    }),
  );
  const owner = await becomeOwner(service, ada);
  await raiseOne(service);
  const [mail] = await mailed(server, 1);
  assert.ok(mail);
  assert.deepEqual([mail.to, mail.secure, mail.user], [ada.email, true, 'holdfast']);
  assert.match(mail.subject, /^\[Holdfast\] Default: The API key "Crane 7" expires on \d{4}-\d\d-\d\d$/);
  assert.match(mail.text, /^Create another key, and replace this one before it stops working\.$/m);
  assert.ok(mail.text.includes(`${service.url}/keys`), mail.text);
  assert.match(mail.raw, /^Message-ID: <notice-\d+-1@/im);
  assert.match(mail.raw, /^Auto-Submitted: auto-generated$/im);

  const wanted = await owner.call('PUT', '/api-v1/platform/notices/mail', { body: { wanted: false } });
  assert.deepEqual([wanted.status, wanted.json], [200, { wanted: false, configured: true }], wanted.text);
  await raiseOne(service);
  await toldTimes(service, 'api_key.expiring', { times: 2 });
  const { rows } = await service.sql('select count(*)::integer as count from notice_mails');
  assert.deepEqual(rows, [{ count: 0 }]);
  assert.equal(server.mails.length, 1);
  const key = await service.call('GET', '/api-v1/platform/notices/mail');
  assert.equal(key.status, 403, key.text);
});

test('mail waits for a server that is away, and operators see why it is not sent', async () => {
  const away = await startMailServer();
  await away.close();
  const service = opened(
    await startService({
      env: mailSettings(`smtp://127.0.0.1:${away.port}`),
      noticeTimes: { holdMs: 200, lookMs: 100 },
    }),
  );
  await becomeOwner(service, ada);
  await raiseOne(service);
  const events = await waitUntil(async () => {
    const events = await notices(service, '?state=raised');
    return (
      events.some(({ title }: { title: string }) => title === 'The loop notice-mail is failing') && events
    );
  });
  assert.ok(events.length >= 2);
  assert.match(service.logged(), /The mail server 127\.0\.0\.1:\d+ cannot be used/);
  const ready = await service.call('GET', '/readyz');
  assert.equal(ready.status, 200, 'a mail server is nothing that requests need');
  assert.equal(ready.json.loops['notice-mail'], 'backing-off');
  const server = opened(await startMailServer({ port: away.port }));
  const [mail] = await waitUntil(() => server.mails.length > 0 && server.mails, 60_000);
  assert.match(mail?.text ?? '', /Crane 7/);
});

test('a recipient that the server refuses does not keep mail from the others', async () => {
  const refused = new Set([ada.email]);
  const server = opened(
    await startMailServer({
      onRecipient(address) {
        if (refused.has(address)) throw Object.assign(new Error('no such mailbox'), { responseCode: 550 });
      },
    }),
  );
  const service = opened(
    await startService({
      env: mailSettings(`smtp://127.0.0.1:${server.port}`),
      noticeTimes: { lookMs: 100 },
    }),
  );
  await becomeOwner(service, ada);
  await service.sql(`insert into users (id, name, email) values ('usr_other', 'Bo', 'bo@example.com')`);
  await service.sql(
    `insert into members (workspace_id, user_id, role) select id, 'usr_other', 'admin' from workspaces where slug = 'default'`,
  );
  await raiseOne(service);
  const [mail] = await mailed(server, 1);
  assert.equal(mail?.to, 'bo@example.com');
  await waitUntil(() => /the mail server refuses this recipient/.test(service.logged()));
  await untilNoneWaits(service);
  assert.doesNotMatch(service.logged(), /loop":"notice-mail/);
});

test('many notices at once are one mail', async () => {
  const server = opened(await startMailServer());
  const service = opened(
    await startService({
      env: mailSettings(`smtp://127.0.0.1:${server.port}`),
      noticeTimes: { lookMs: 100 },
    }),
  );
  await becomeOwner(service, ada);
  await service.sql(
    `insert into workers (workspace_id, id, name, address, key_holder, licences)
     select w.id, 'wrk_many', 'Bo', '0x0000000000000000000000000000000000000001', 'worker',
       (select jsonb_agg(jsonb_build_object('scope', 'S' || n, 'number', 'N' || n, 'authority', 'A',
         'expiresAt', now() + interval '1 day')) from generate_series(1, 60) as n)
     from workspaces w where w.slug = 'default'`,
  );
  const [mail] = await mailed(server, 1);
  assert.match(mail?.subject ?? '', /60 notices, first: The licence N1 \(S1\)/);
  assert.match(mail?.text ?? '', /^And 40 more\.$/m);
  await untilNoneWaits(service);
});

test('the command says what is wrong with the settings, and repeats no password', async () => {
  const server = opened(await startMailServer({ password: 'right' }));
  const run = (url: string) => holdfast(mailSettings(url), 'mail', 'test', 'ada@example.com');
  const sent = await run(`smtp://holdfast:right@localhost:${server.port}`);
  assert.deepEqual(
    [sent.code, sent.stdout.trim()],
    [0, `The mail server localhost:${server.port} took the mail to ada@example.com.`],
  );
  assert.equal(server.mails[0]?.secure, true, 'STARTTLS is used where it is offered');
  const wrong = await run(`smtp://holdfast:wr0ng-secret@localhost:${server.port}`);
  assert.equal(wrong.code, 1);
  assert.match(wrong.stderr, /refuses user and password of HOLDFAST_SMTP_URL/);
  assert.doesNotMatch(wrong.stderr + wrong.stdout, /wr0ng-secret/);
  const none = await holdfast({}, 'mail', 'test', 'ada@example.com');
  assert.match(none.stderr, /There is no mail server: set HOLDFAST_SMTP_URL/);
  const faulty = await run('smtp://host:25?x=secret');
  assert.match(faulty.stderr, /HOLDFAST_SMTP_URL is not of the form/);
  assert.doesNotMatch(faulty.stderr, /secret/);
});
