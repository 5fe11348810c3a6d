page! {
    /// A string that has the form of a key, a token or a password. Anyone who reads the file has the secret. Revoke it where it
    /// was issued, keep the new one in the environment, and name the variable.
    "pasted-secret", Warning
}
