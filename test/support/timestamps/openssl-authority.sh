# A timestamp authority of your own, by openssl: it listens on port 3161, and root.pem is the root to pin.
openssl req -x509 -newkey rsa:2048 -nodes -days 3650 -subj '/CN=Example Root' -keyout root.key -out root.pem
openssl req -new -newkey rsa:2048 -nodes -subj '/CN=Example TSA' -keyout tsa.key -out tsa.csr
echo 'extendedKeyUsage = critical, timeStamping' > tsa.ext
openssl x509 -req -in tsa.csr -CA root.pem -CAkey root.key -CAcreateserial -days 3650 -extfile tsa.ext -out tsa.pem
printf '%s\n' '[tsa]' 'default_tsa=t' '[t]' 'serial=serial' 'signer_cert=tsa.pem' 'signer_key=tsa.key' 'signer_digest=sha256' \
  'default_policy=1.2.3.4.1' 'digests=sha256' 'accuracy=secs:1' 'ess_cert_id_alg=sha256' > tsa.cnf && echo 01 > serial
exec node -e 'require("http").createServer(async (request, response) => {
  require("fs").writeFileSync("request.tsq", Buffer.concat(await request.toArray()))
  response.end(require("child_process").execSync("openssl ts -reply -config tsa.cnf -queryfile request.tsq"))
}).listen(process.env.PORT ?? 3161, "127.0.0.1", function () { console.log(`http://127.0.0.1:${this.address().port}/`) })'
