// The confs that the console proposes. Each has a new password: an API that other machines can reach must have one.
const secret = Array.from(crypto.getRandomValues(new Uint8Array(12)), (byte) => byte.toString(16).padStart(2, '0')).join('');
const AUTH = `auth { enabled on; username admin; password ${secret}; }`;

export const CONF_OPEN = `http_api {
    enabled on;
    listen  1985;
    ${AUTH}
}`;

/** KEY.pem and CERT.pem are the operator's files: the certificate of the samples must not be trusted. */
export const CONF_HTTPS = `http_api {
    enabled on;
    ${AUTH}
    https { enabled on; listen 1990; key ./conf/KEY.pem; cert ./conf/CERT.pem; }
}`;
