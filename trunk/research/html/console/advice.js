// The confs that the console proposes. Each has a password of its own: an API that other machines reach is never open.
const secret = Array.from(crypto.getRandomValues(new Uint8Array(12)), (byte) => byte.toString(16).padStart(2, '0')).join('');
const AUTH = `auth { enabled on; username admin; password ${secret}; }`;

export const CONF_OPEN = `http_api {
    enabled on;
    listen  1985;
    ${AUTH}
}`;

/** The files are the operator's own: nobody should trust the certificate of the samples. */
export const CONF_HTTPS = `http_api {
    enabled on;
    ${AUTH}
    https { enabled on; listen 1990; key ./conf/KEY.pem; cert ./conf/CERT.pem; }
}`;
